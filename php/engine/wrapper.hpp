#pragma once

/// While code of PHP opens a URL for its stream wrapper, PHP keeps the name so that opening it again from within is refused. Without this another
/// coroutine that opens the same URL meanwhile would be refused too.

#include "../zend.hpp"

#include <ext/standard/file.h>

#include <utility>

namespace trueasync::php {

class WrapperState {
public:
    void leave() noexcept { name_ = std::exchange(FG(user_stream_current_filename), nullptr); }
    void enter() noexcept { FG(user_stream_current_filename) = std::exchange(name_, nullptr); }

private:
    const char* name_ = nullptr;  // belongs to the call that opens
};

}  // namespace trueasync::php
