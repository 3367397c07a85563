#pragma once

/// The callback of `usort` and its like is kept in a global. Without this a comparator that suspends would leave another coroutine's
/// callback behind, and arrays would be sorted by the wrong one.

#include "../zend.hpp"

#include <ext/standard/basic_functions.h>

namespace trueasync::php {

class CompareState {
public:
    static bool is_in_use() noexcept { return ZEND_FCI_INITIALIZED(BG(user_compare_fci)); }
    void leave() noexcept {
        if (is_in_use()) {
            call_ = BG(user_compare_fci);
            cache_ = BG(user_compare_fci_cache);
            BG(user_compare_fci) = empty_fcall_info;
            BG(user_compare_fci_cache) = empty_fcall_info_cache;
            is_saved_ = true;
        }
    }
    void enter() noexcept {
        if (is_saved_) {
            BG(user_compare_fci) = call_;
            BG(user_compare_fci_cache) = cache_;
            is_saved_ = false;
        }
    }

private:
    zend_fcall_info call_;
    zend_fcall_info_cache cache_;
    bool is_saved_ = false;
};

}  // namespace trueasync::php
