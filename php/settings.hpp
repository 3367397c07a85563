#pragma once

/// The settings of php.ini.

#include "zend.hpp"

#include <trueasync/runtime/stack_pool.hpp>

namespace trueasync::php {

/// What is set now for the stacks of coroutines.
StackPoolSettings stack_settings();

void register_settings(int type, int module_number);
void unregister_settings(int type, int module_number);

/// For `phpinfo()` and `php --ri`: versions, settings, state.
void show_module(zend_module_entry* zend_module);

}  // namespace trueasync::php
