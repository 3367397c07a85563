#pragma once

/// `serialize()` and `unserialize()` number what they have seen in tables that nested calls share. Without this one whose `__sleep`,
/// `__unserialize` or the like suspends would share them with another coroutine, whose text would point to values of the first.

#include "../zend.hpp"

#include <ext/standard/basic_functions.h>

#include <utility>

namespace trueasync::php {

class SerializeState {
public:
    static TA_INLINE bool is_in_use() noexcept {
        return (BG(serialize_lock) | BG(serialize).level | BG(unserialize).level) != 0;
    }
    void leave() noexcept {
        if (is_in_use()) {
            lock_ = std::exchange(BG(serialize_lock), 0);
            serialize_ = std::exchange(BG(serialize), {});
            unserialize_ = std::exchange(BG(unserialize), {});
            is_saved_ = true;
        }
    }
    void enter() noexcept {
        if (is_saved_) {
            BG(serialize_lock) = lock_;
            BG(serialize) = serialize_;
            BG(unserialize) = unserialize_;
            is_saved_ = false;
        }
    }

private:
    std::remove_reference_t<decltype(BG(serialize_lock))> lock_;
    std::remove_reference_t<decltype(BG(serialize))> serialize_;
    std::remove_reference_t<decltype(BG(unserialize))> unserialize_;
    bool is_saved_ = false;
};

}  // namespace trueasync::php
