#include "jit.hpp"

#include "../zend.hpp"

#include <zend_exceptions.h>
#include <zend_vm.h>

// Until 8.4 opcache is an object of its own. On other processors the engine's registers have other names: not tried.
#if defined(__x86_64__) && defined(__linux__) && PHP_VERSION_ID < 80500
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>

namespace trueasync::php {

namespace {

/// Instead of `zend_throw_exception_internal`, which opcache calls in one place, the JIT's helper that leaves a function. There r14 is the
/// caller's frame and r15 where it goes on; the helper forgets to set the latter when there is an exception.
__attribute__((naked)) void throw_in_caller() {
    asm("subq $8, %rsp\n\t"
        "call zend_throw_exception_internal@PLT\n\t"
        "addq $8, %rsp\n\t"
        "movq (%r14), %r15\n\t"
        "ret");
}

void write_slot(const dl_phdr_info& object, ElfW(Addr) slot) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    auto* first = reinterpret_cast<void*>(slot & ~(page - 1));
    bool is_read_only = false;
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = object.dlpi_phdr[i];
        const ElfW(Addr) begin = object.dlpi_addr + part.p_vaddr;
        is_read_only = is_read_only || (part.p_type == PT_GNU_RELRO && slot >= begin && slot < begin + part.p_memsz);
    }
    if (is_read_only && ::mprotect(first, page, PROT_READ | PROT_WRITE) != 0) {
        return;
    }
    *reinterpret_cast<void (**)()>(slot) = throw_in_caller;
    if (is_read_only) {
        ::mprotect(first, page, PROT_READ);
    }
}

int look_at(dl_phdr_info* object, std::size_t /*size*/, void* /*context*/) {
    if (!std::string_view(object->dlpi_name).ends_with("/opcache.so")) {
        return 0;
    }
    const ElfW(Dyn)* entry = nullptr;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            entry = reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        }
    }
    const ElfW(Rela)* calls = nullptr;
    std::size_t bytes = 0;
    const ElfW(Sym)* symbols = nullptr;
    const char* names = nullptr;
    for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
        switch (entry->d_tag) {
            case DT_JMPREL:
                calls = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
                break;
            case DT_PLTRELSZ:
                bytes = entry->d_un.d_val;
                break;
            case DT_SYMTAB:
                symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
                break;
            case DT_STRTAB:
                names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
                break;
            default:
                break;
        }
    }
    if (calls == nullptr || symbols == nullptr || names == nullptr ||
        reinterpret_cast<std::uintptr_t>(names) < object->dlpi_addr) {  // a libc that leaves them relative
        return 1;
    }
    for (std::size_t i = 0; i < bytes / sizeof(*calls); ++i) {
        if (std::string_view(names + symbols[ELF64_R_SYM(calls[i].r_info)].st_name) ==
            "zend_throw_exception_internal") {
            write_slot(*object, object->dlpi_addr + calls[i].r_offset);
        }
    }
    return 1;
}

}  // namespace

void guard_jit() {
    static const int once = zend_vm_kind() == ZEND_VM_KIND_HYBRID ? dl_iterate_phdr(look_at, nullptr) : 0;
    static_cast<void>(once);
}

}  // namespace trueasync::php
#else
namespace trueasync::php {
void guard_jit() {}
}  // namespace trueasync::php
#endif
