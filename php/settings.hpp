#pragma once

/// The settings of php.ini.

#include "zend.hpp"

#include <trueasync/runtime/stack_pool.hpp>
#include <trueasync/transparent/transparent.hpp>

namespace trueasync::php {

/// `async.stack_size`; if only `fiber.stack_size` was set, that.
std::size_t stack_size();

/// What is set now for the stacks of coroutines.
StackPoolSettings stack_settings();

/// Who is left out of the transparent I/O.
TransparentSettings transparent_settings();

void register_settings(int type, int module_number);
void unregister_settings(int type, int module_number);

/// For `phpinfo()` and `php --ri`: versions, settings, state.
void show_module(zend_module_entry* zend_module);

}  // namespace trueasync::php
