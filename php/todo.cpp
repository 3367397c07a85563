/// What the stubs promise and nobody has written yet. Empty this file.

#include "classes/exceptions.hpp"

using namespace trueasync::php;

#define TA_TODO_FUNCTION(name) \
    ZEND_FUNCTION(name) { zend_throw_exception(ce_async_exception, #name " is not there yet", 0); }
#define TA_TODO_METHOD(type, name) \
    ZEND_METHOD(type, name) { zend_throw_exception(ce_async_exception, #type "::" #name " is not there yet", 0); }

TA_TODO_FUNCTION(Async_spawn_thread)
