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

void* dlsym(void* handle, const char* name) {
    if (handle == RTLD_NEXT) {
        return ::dlsym(handle, name);  // a jump: the answer depends on who asks
    }
    void* found = ::dlsym(handle, name);
    void* hook = found != nullptr ? hook_of(found, name) : nullptr;
    return hook != nullptr ? hook : found;
}

}  // namespace trueasync::hooked
