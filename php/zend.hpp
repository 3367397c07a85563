#pragma once

/// The engine's headers, once and in the right order.

extern "C" {
#include <SAPI.h>
#include <php.h>
#include <php_ini.h>
#include <php_main.h>
#include <zend_builtin_functions.h>
#include <zend_closures.h>
#include <zend_enum.h>
#include <zend_exceptions.h>
#include <zend_extensions.h>
#include <zend_fibers.h>
#include <zend_generators.h>
#include <zend_interfaces.h>
#include <zend_observer.h>
#include <zend_smart_str.h>
#include <ext/standard/info.h>
#include <ext/standard/php_standard.h>
}

#ifdef ZTS
#define TA_PHP_THREAD_LOCAL thread_local
#else
#define TA_PHP_THREAD_LOCAL
#endif
