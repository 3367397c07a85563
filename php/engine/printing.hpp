#pragma once

/// PHP prints through functions of its server interface, which may keep what they are in the middle of in one place for all: php-fpm has one buffer
/// for the page and the log. Without this a coroutine that prints while another waits for a slow reader inside of them would damage both texts. One
/// at a time is inside them, in order.

#include "../zend.hpp"

namespace trueasync::php {

/// From now on what a coroutine prints goes out whole, also when it is cancelled meanwhile.
void begin_whole_output() noexcept;

/// Nobody is left who could wait: what nobody could be made to wait for goes out.
void end_whole_output() noexcept;

}  // namespace trueasync::php
