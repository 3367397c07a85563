#include <cstring>

#include "hooks.hpp"
#include "state.hpp"

// The loader's answers depend on the object that asks, so what is not ours to answer is jumped to.
#if defined(__clang__)
#define TA_JUMPS
#define TA_JUMP [[clang::musttail]] return
#else
#define TA_JUMPS __attribute__((optimize("O2")))
#define TA_JUMP return
#endif

namespace trueasync::hooked {

namespace {

/// Passed in registers: nothing lies on the stack of who jumps.
struct Answer {
    void* what = nullptr;
    bool is_final = false;
};

/// A bare name is looked for where the caller's object says.
__attribute__((noinline)) Answer open_path(const char* file, int mode) noexcept {
    if (file != nullptr && (std::strchr(file, '/') == nullptr || std::strchr(file, '$') != nullptr)) {
        thread_oddity |= kLookDue;
        return {};
    }
    void* handle = ::dlopen(file, mode);
    if (handle != nullptr) {
        look_for_objects();
    }
    return {handle, true};
}

template <typename Look>
Answer answer(void* handle, const char* name, Look&& look) noexcept {
    look_if_due();
    if (handle == RTLD_NEXT) {
        return {};
    }
    void* found = look();
    void* hook = found != nullptr ? hook_of(found, name) : nullptr;
    if (hook != nullptr) {
        return {hook, true};
    }
    return {found, handle != RTLD_DEFAULT};
}

__attribute__((noinline)) Answer find(void* handle, const char* name) noexcept {
    return answer(handle, name, [&] { return ::dlsym(handle, name); });
}

__attribute__((noinline)) Answer find(void* handle, const char* name, const char* version) noexcept {
    return answer(handle, name, [&] { return ::dlvsym(handle, name, version); });
}

}  // namespace

TA_JUMPS void* dlopen(const char* file, int mode) {
    if (const Answer answer = open_path(file, mode); answer.is_final) {
        return answer.what;
    }
    TA_JUMP ::dlopen(file, mode);
}

TA_JUMPS void* dlsym(void* handle, const char* name) {
    if (const Answer answer = find(handle, name); answer.is_final) {
        return answer.what;
    }
    TA_JUMP ::dlsym(handle, name);
}

TA_JUMPS void* dlvsym(void* handle, const char* name, const char* version) {
    if (const Answer answer = find(handle, name, version); answer.is_final) {
        return answer.what;
    }
    TA_JUMP ::dlvsym(handle, name, version);
}

}  // namespace trueasync::hooked
