#include "observer.hpp"

#include "replace.hpp"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace trueasync::php {

namespace {

struct Dynamic {
    const ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
    std::uint32_t undefined = 0;  // at most so many, at the beginning of the table
};

template <typename T>
const T* pointer(const dl_phdr_info& object, ElfW(Addr) address) noexcept {
    // glibc has made it absolute, other libraries have not.
    return reinterpret_cast<const T*>(address < object.dlpi_addr ? address + object.dlpi_addr : address);
}

Dynamic read_dynamic(const dl_phdr_info& object, const ElfW(Dyn) * entry) noexcept {
    Dynamic result;
    for (; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_SYMTAB) {
            result.symbols = pointer<ElfW(Sym)>(object, entry->d_un.d_ptr);
        } else if (entry->d_tag == DT_STRTAB) {
            result.names = pointer<char>(object, entry->d_un.d_ptr);
        } else if (entry->d_tag == DT_GNU_HASH) {
            result.undefined = pointer<std::uint32_t>(object, entry->d_un.d_ptr)[1];  // the first that is hashed
        } else if (entry->d_tag == DT_HASH && result.undefined == 0) {
            result.undefined = pointer<std::uint32_t>(object, entry->d_un.d_ptr)[1];  // all
        }
    }
    return result;
}

bool is_registration(std::string_view name) noexcept {
    return name == "zend_observer_fiber_switch_register" || name == "zend_observer_fiber_init_register" ||
           name == "zend_observer_fiber_destroy_register" || name == "zend_observer_fcall_register";
}

/// Whether the object calls one of the functions that register an observer. The engine does not say whether anybody did.
bool imports_registration(const dl_phdr_info& object, const ElfW(Dyn) * entries) noexcept {
    const Dynamic dynamic = read_dynamic(object, entries);
    if (dynamic.symbols == nullptr || dynamic.names == nullptr) {
        return false;
    }
    for (std::uint32_t i = 0; i < dynamic.undefined; ++i) {
        const ElfW(Sym)& symbol = dynamic.symbols[i];
        const char* name = dynamic.names + symbol.st_name;
        if (symbol.st_shndx == SHN_UNDEF && *name == 'z' && is_registration(name)) {
            return true;
        }
    }
    return false;
}

int visit_object(dl_phdr_info* object, std::size_t /*size*/, void* /*data*/) noexcept {
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = object->dlpi_phdr[i];
        if (header.p_type == PT_DYNAMIC &&
            imports_registration(*object, reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + header.p_vaddr))) {
            return 1;
        }
    }
    return 0;
}

// The profiler of Xdebug closes its file at exit(), and dies on the stack of any fiber: it gets the main one.
#ifdef ZEND_EXIT
user_opcode_handler_t exit_before = nullptr;

int on_exit(zend_execute_data* execute_data) {
    zend_fiber_context* here = EG(current_fiber_context);
    observe_switch(here, EG(main_fiber_context));
    const int result = exit_before(execute_data);
    observe_switch(EG(main_fiber_context), here);
    return result;
}

void guard_exit() noexcept {
    if (is_observed && exit_before == nullptr) {
        exit_before = zend_get_user_opcode_handler(ZEND_EXIT);
        if (exit_before != nullptr) {  // else there is nobody to guard
            zend_set_user_opcode_handler(ZEND_EXIT, on_exit);
        }
    }
}
#else
zif_handler exit_before = nullptr;

ZEND_NAMED_FUNCTION(on_exit) {
    zend_fiber_context* here = EG(current_fiber_context);
    observe_switch(here, EG(main_fiber_context));
    exit_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    observe_switch(EG(main_fiber_context), here);
}

void guard_exit() noexcept {
    if (is_observed && exit_before == nullptr) {
        exit_before = replace_handler(CG(function_table), "exit", on_exit);
    }
}
#endif

}  // namespace

void find_observers() noexcept {
    static const bool found = ZEND_OBSERVER_ENABLED || dl_iterate_phdr(&visit_object, nullptr) != 0;
    is_observed = found;
    guard_exit();
}

void observe_start_slow(zend_fiber_context& fiber, const Value& file, std::uint32_t line) noexcept {
    fiber.status = ZEND_FIBER_STATUS_INIT;
    // Xdebug asks for the place of whoever starts a fiber, and cannot do without: a frame that stands where the coroutine was spawned.
    zend_op opline = {};
    opline.lineno = line;
    zend_op_array source = {};
    source.type = ZEND_USER_FUNCTION;
    source.filename = file.is_set() ? Z_STR_P(file.get()) : ZSTR_EMPTY_ALLOC();
    source.opcodes = &opline;
    zend_execute_data frame = {};
    frame.func = reinterpret_cast<zend_function*>(&source);
    frame.opline = &opline;
    zend_execute_data* before = std::exchange(EG(current_execute_data), &frame);
    zend_observer_fiber_init_notify(&fiber);
    zend_observer_fiber_switch_notify(EG(main_fiber_context), &fiber);
    EG(current_execute_data) = before;
}

void observe_end(zend_fiber_context& fiber) noexcept {
    fiber.status = ZEND_FIBER_STATUS_DEAD;
    if (UNEXPECTED(is_observed)) {
        zend_observer_fiber_switch_notify(&fiber, EG(main_fiber_context));
        zend_observer_fiber_destroy_notify(&fiber);
    }
}

void observe_abandoned(zend_fiber_context& fiber) noexcept {
    if (UNEXPECTED(is_observed) && fiber.status == ZEND_FIBER_STATUS_RUNNING) {
        fiber.status = ZEND_FIBER_STATUS_DEAD;
        zend_observer_fiber_destroy_notify(&fiber);
    }
}

}  // namespace trueasync::php
