install: install-true-async-stubs

install-true-async-stubs:
	@$(mkinstalldirs) $(INSTALL_ROOT)$(datadir)/php/true_async/stubs
	@$(INSTALL_DATA) $(srcdir)/stubs/*.stub.php $(INSTALL_ROOT)$(datadir)/php/true_async/stubs
