#include "got.hpp"

#if defined(__linux__) && defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdint>
#include <cstring>
#include <utility>

namespace trueasync::hooked {

namespace {

#if defined(__x86_64__)
constexpr bool is_pointer_to_function(std::uint32_t type) noexcept {
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}
#else
constexpr bool is_pointer_to_function(std::uint32_t type) noexcept {
    return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_ABS64;
}
#endif

std::uintptr_t page_size() noexcept {
    static const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

/// The part of an object that the loader has made read-only after its work; writable while this lives.
class Sealed {
public:
    Sealed(std::uintptr_t begin, std::uintptr_t end) noexcept
        : begin_(begin & ~(page_size() - 1)), end_(end & ~(page_size() - 1)) {}
    Sealed(const Sealed&) = delete;
    Sealed& operator=(const Sealed&) = delete;
    ~Sealed() {
        if (is_open_) {
            ::mprotect(reinterpret_cast<void*>(begin_), end_ - begin_, PROT_READ);
        }
    }

    bool make_writable(std::uintptr_t address) noexcept {
        if (is_open_ || address < begin_ || address >= end_) {
            return true;
        }
        is_open_ = ::mprotect(reinterpret_cast<void*>(begin_), end_ - begin_, PROT_READ | PROT_WRITE) == 0;
        return is_open_;
    }

private:
    std::uintptr_t begin_;
    std::uintptr_t end_;
    bool is_open_ = false;
};

struct Tables {
    const ElfW(Rela) * relocations = nullptr;
    std::size_t relocations_size = 0;
    const ElfW(Rela) * calls = nullptr;
    std::size_t calls_size = 0;
    const ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
};

class Rewriter {
public:
    explicit Rewriter(RewriteCounts& counts) noexcept : counts_(counts) {}

    /// False: none of its calls reach us, or not all of those that should.
    bool rewrite(const dl_phdr_info& object, std::span<const Replacement> replacements) noexcept {
        replacements_ = replacements;
        const ElfW(Dyn)* dynamic = nullptr;
        std::uintptr_t sealed_begin = 0;
        std::uintptr_t sealed_end = 0;
        for (int i = 0; i < object.dlpi_phnum; ++i) {
            const auto& header = object.dlpi_phdr[i];
            if (header.p_type == PT_DYNAMIC) {
                dynamic = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + header.p_vaddr);
            } else if (header.p_type == PT_GNU_RELRO) {
                sealed_begin = object.dlpi_addr + header.p_vaddr;
                sealed_end = sealed_begin + header.p_memsz;
            }
        }
        if (dynamic == nullptr) {
            return false;
        }
        const Tables tables = read(dynamic);
        if (tables.symbols == nullptr || tables.names == nullptr) {
            return false;
        }
        Sealed sealed(sealed_begin, sealed_end);
        const RewriteCounts before = counts_;
        reached_ = 0;
        each(tables, tables.calls, tables.calls_size, object.dlpi_addr, sealed);
        each(tables, tables.relocations, tables.relocations_size, object.dlpi_addr, sealed);
        counts_.objects += counts_.slots != before.slots ? 1 : 0;
        return reached_ != 0 && counts_.refused == before.refused;
    }

private:
    static Tables read(const ElfW(Dyn) * entry) noexcept {
        Tables tables;
        for (; entry->d_tag != DT_NULL; ++entry) {
            const auto address = entry->d_un.d_ptr;  // glibc has added where the object lies
            switch (entry->d_tag) {
                case DT_RELA:
                    tables.relocations = reinterpret_cast<const ElfW(Rela)*>(address);
                    break;
                case DT_RELASZ:
                    tables.relocations_size = entry->d_un.d_val;
                    break;
                case DT_JMPREL:
                    tables.calls = reinterpret_cast<const ElfW(Rela)*>(address);
                    break;
                case DT_PLTRELSZ:
                    tables.calls_size = entry->d_un.d_val;
                    break;
                case DT_SYMTAB:
                    tables.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
                    break;
                case DT_STRTAB:
                    tables.names = reinterpret_cast<const char*>(address);
                    break;
                default:
                    break;
            }
        }
        return tables;
    }

    void each(
        const Tables& tables, const ElfW(Rela) * first, std::size_t size, std::uintptr_t base, Sealed& sealed
    ) noexcept {
        const std::size_t count = first != nullptr ? size / sizeof(*first) : 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto symbol_index = ELF64_R_SYM(first[i].r_info);
            if (symbol_index == 0 ||
                !is_pointer_to_function(static_cast<std::uint32_t>(ELF64_R_TYPE(first[i].r_info)))) {
                continue;
            }
            const ElfW(Sym)& symbol = tables.symbols[symbol_index];
            if (symbol.st_shndx != SHN_UNDEF || first[i].r_addend != 0) {
                continue;
            }
            if (const Replacement* found = find(tables.names + symbol.st_name)) {
                write(base + first[i].r_offset, *found, sealed);
            }
        }
    }

    const Replacement* find(const char* name) const noexcept {
        for (const Replacement& replacement : replacements_) {
            if (std::strcmp(replacement.name, name) == 0) {
                return &replacement;
            }
        }
        return nullptr;
    }

    void write(std::uintptr_t address, const Replacement& replacement, Sealed& sealed) noexcept {
        auto* slot = reinterpret_cast<void**>(address);
        if (__atomic_load_n(slot, __ATOMIC_RELAXED) == replacement.hook) {
            ++reached_;
            return;
        }
        if (!sealed.make_writable(address)) {
            ++counts_.refused;
            return;
        }
        __atomic_store_n(slot, replacement.hook, __ATOMIC_RELEASE);
        ++counts_.slots;
        ++reached_;
    }

    std::span<const Replacement> replacements_;
    RewriteCounts& counts_;
    std::size_t reached_ = 0;
};

bool holds(const dl_phdr_info& object, const void* code) noexcept {
    const auto here = reinterpret_cast<std::uintptr_t>(code);
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        const auto& header = object.dlpi_phdr[i];
        const std::uintptr_t begin = object.dlpi_addr + header.p_vaddr;
        if (header.p_type == PT_LOAD && here >= begin && here < begin + header.p_memsz) {
            return true;
        }
    }
    return false;
}

/// A program without shared libraries has nothing that could be rewritten.
bool needs_others(const dl_phdr_info& object) noexcept {
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        const auto& header = object.dlpi_phdr[i];
        if (header.p_type != PT_DYNAMIC) {
            continue;
        }
        const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + header.p_vaddr);
        while (entry->d_tag != DT_NULL && entry->d_tag != DT_NEEDED) {
            ++entry;
        }
        return entry->d_tag == DT_NEEDED;
    }
    return false;
}

struct Walk {
    Rewriter rewriter;
    Choice choose;
    const void* host;
    bool is_host_reached = true;
    bool is_static = false;
};

}  // namespace

bool rewrite_objects(Choice choose, RewriteCounts& counts, const void* host) noexcept {
    Walk walk{Rewriter(counts), choose, host};
    ::dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t /*size*/, void* data) {
            auto& all = *static_cast<Walk*>(data);
            if (const auto replacements = all.choose(object->dlpi_name); !replacements.empty()) {
                const bool is_ours = holds(*object, reinterpret_cast<const void*>(&rewrite_objects));
                all.is_static = all.is_static || (is_ours && !needs_others(*object));
                const bool is_reached = !is_ours && all.rewriter.rewrite(*object, replacements);
                all.is_host_reached = all.is_host_reached && (is_reached || !holds(*object, all.host));
            }
            return 0;
        },
        &walk
    );
    return walk.is_host_reached && !walk.is_static;
}

bool rewrite_object(
    const void* code, std::span<const Replacement> replacements, bool (*is_left_out)(std::string_view path)
) noexcept {
    struct One {
        Rewriter rewriter;
        std::span<const Replacement> replacements;
        bool (*is_left_out)(std::string_view path);
        const void* code;
        bool is_reached = false;
    };
    RewriteCounts counts;
    One one{Rewriter(counts), replacements, is_left_out, code};
    ::dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t /*size*/, void* data) {
            auto& wanted = *static_cast<One*>(data);
            if (!holds(*object, wanted.code)) {
                return 0;
            }
            const bool is_ours = holds(*object, reinterpret_cast<const void*>(&rewrite_object));
            wanted.is_reached = !is_ours && !wanted.is_left_out(object->dlpi_name) &&
                                wanted.rewriter.rewrite(*object, wanted.replacements);
            return 1;
        },
        &one
    );
    return one.is_reached;
}

bool have_objects_changed() noexcept {
    static std::uint64_t seen = 0;
    std::uint64_t now = 0;
    ::dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t /*size*/, void* data) {
            *static_cast<std::uint64_t*>(data) = object->dlpi_adds;
            return 1;
        },
        &now
    );
    return now != std::exchange(seen, now);
}

}  // namespace trueasync::hooked

#else

namespace trueasync::hooked {

bool rewrite_objects(Choice, RewriteCounts&, const void*) noexcept { return false; }
bool rewrite_object(const void*, std::span<const Replacement>, bool (*)(std::string_view)) noexcept { return false; }
bool have_objects_changed() noexcept { return false; }

}  // namespace trueasync::hooked

#endif
