#include <dlfcn.h>

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

}  // namespace trueasync::hooked
