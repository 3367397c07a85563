#pragma once

/// Variables of a thread. The system has less than two KiB of thread-local memory for libraries that are loaded later, and refuses to load what
/// needs more: on builds with threads what few programs use is made when it is used, and takes a pointer there.

#include "zend.hpp"

#include <memory>

namespace trueasync::php {

#ifdef ZTS
template <typename T>
class PerThread {
public:
    T& operator*() {
        if (value_ == nullptr) {
            value_ = std::make_unique<T>();
        }
        return *value_;
    }
    T* operator->() { return &**this; }

private:
    std::unique_ptr<T> value_;
};
#else
template <typename T>
class PerThread {
public:
    T& operator*() noexcept { return value_; }
    T* operator->() noexcept { return &value_; }

private:
    T value_;
};
#endif

}  // namespace trueasync::php
