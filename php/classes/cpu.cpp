#include "cpu.hpp"

#include "../stubs/cpu_arginfo.h"

#include <trueasync/base/cpu.hpp>

#include <cstdint>

using namespace trueasync;

namespace trueasync::php {

namespace {

zend_class_entry* ce_cpu_snapshot = nullptr;
zend_object_handlers handlers;

void put_load(zval* array_or_null) {
    const std::optional<LoadAverage> load = load_average();
    if (!load.has_value()) {
        ZVAL_NULL(array_or_null);
        return;
    }
    array_init_size(array_or_null, 3);
    add_next_index_double(array_or_null, load->minutes_1);
    add_next_index_double(array_or_null, load->minutes_5);
    add_next_index_double(array_or_null, load->minutes_15);
}

}  // namespace

void register_cpu() {
    ce_cpu_snapshot = register_class_Async_CpuSnapshot();
    handlers = *zend_get_std_object_handlers();
    handlers.clone_obj = nullptr;
#if PHP_VERSION_ID >= 80300
    ce_cpu_snapshot->default_object_handlers = &handlers;
#endif
}

}  // namespace trueasync::php

using namespace trueasync::php;

ZEND_METHOD(Async_CpuSnapshot, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Async_CpuSnapshot, now) {
    ZEND_PARSE_PARAMETERS_NONE();
    const CpuTimes times = CpuTimes::now();
    object_init_ex(return_value, ce_cpu_snapshot);
    zend_object* object = Z_OBJ_P(return_value);
    object->handlers = &handlers;
    const std::uint64_t values[] = {times.wall,        times.process_user, times.process_system,
                                    times.system_idle, times.system_busy,  times.processors};
    for (int i = 0; i < 6; ++i) {  // in the order of the stub
        ZVAL_LONG(OBJ_PROP_NUM(object, i), static_cast<zend_long>(values[i]));
    }
}

ZEND_FUNCTION(Async_available_parallelism) {
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_LONG(static_cast<zend_long>(available_parallelism()));
}

ZEND_FUNCTION(Async_loadavg) {
    ZEND_PARSE_PARAMETERS_NONE();
    put_load(return_value);
}

ZEND_FUNCTION(Async_cpu_usage) {
    ZEND_PARSE_PARAMETERS_NONE();
    CpuTimes now;
    const CpuUsage usage = cpu_usage(&now);
    zval load;
    put_load(&load);
    array_init_size(return_value, 6);
    add_assoc_double(return_value, "process_cores", usage.process_cores);
    add_assoc_double(return_value, "process_percent", usage.process_percent);
    add_assoc_double(return_value, "system_percent", usage.system_percent);
    add_assoc_long(return_value, "cpu_count", static_cast<zend_long>(now.processors));
    add_assoc_double(return_value, "interval_sec", usage.seconds);
    add_assoc_zval(return_value, "loadavg", &load);
}
