#include <cstring>

#include "hooks.hpp"
#include "state.hpp"

namespace trueasync::hooked {

void* dlopen(const char* file, int mode) {
    void* handle = ::dlopen(file, mode);
    if (handle != nullptr) {
        look_for_objects();
    }
    return handle;
}

namespace {

void* replaced(void* found, const char* name) noexcept {
    void* hook = found != nullptr ? hook_of(found, name) : nullptr;
    return hook != nullptr ? hook : found;
}

}  // namespace

// With RTLD_NEXT a jump: the answer depends on who asks.
void* dlsym(void* handle, const char* name) {
    return handle == RTLD_NEXT ? ::dlsym(handle, name) : replaced(::dlsym(handle, name), name);
}

void* dlvsym(void* handle, const char* name, const char* version) {
    return handle == RTLD_NEXT ? ::dlvsym(handle, name, version) : replaced(::dlvsym(handle, name, version), name);
}

}  // namespace trueasync::hooked
