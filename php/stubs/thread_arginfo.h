/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 3273ec4ee6cf414610e69a63233ce93ba590feb2 */

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Async_RemoteException_getRemoteException, 0, 0, Throwable, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_RemoteException_getRemoteClass, 0, 0, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Async_Thread___construct, 0, 0, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Thread_isRunning, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Async_Thread_isCompleted arginfo_class_Async_Thread_isRunning

#define arginfo_class_Async_Thread_isCancelled arginfo_class_Async_Thread_isRunning

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Thread_getResult, 0, 0, IS_MIXED, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Async_Thread_getException arginfo_class_Async_Thread_getResult

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Thread_cancel, 0, 0, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, cancellation, Async\\AsyncCancellation, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Thread_finally, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, callback, Closure, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Async_ThreadChannel___construct, 0, 0, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, capacity, IS_LONG, 0, "16")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_ThreadChannel_send, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, cancellationToken, Async\\Completable, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_ThreadChannel_recv, 0, 0, IS_MIXED, 0)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, cancellationToken, Async\\Completable, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_ThreadChannel_close, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Async_ThreadChannel_isClosed arginfo_class_Async_Thread_isRunning

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_ThreadChannel_capacity, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Async_ThreadChannel_count arginfo_class_Async_ThreadChannel_capacity

#define arginfo_class_Async_ThreadChannel_isEmpty arginfo_class_Async_Thread_isRunning

#define arginfo_class_Async_ThreadChannel_isFull arginfo_class_Async_Thread_isRunning

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Async_ThreadPool___construct, 0, 0, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, workers, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, queueSize, IS_LONG, 0, "0")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, bootloader, Closure, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, coroutine, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, concurrency, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Async_ThreadPool_submit, 0, 1, Async\\Future, 0)
	ZEND_ARG_TYPE_INFO(0, task, IS_CALLABLE, 0)
	ZEND_ARG_VARIADIC_TYPE_INFO(0, args, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_ThreadPool_map, 0, 2, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, items, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, task, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Async_ThreadPool_close arginfo_class_Async_ThreadChannel_close

#define arginfo_class_Async_ThreadPool_cancel arginfo_class_Async_ThreadChannel_close

#define arginfo_class_Async_ThreadPool_isClosed arginfo_class_Async_Thread_isRunning

#define arginfo_class_Async_ThreadPool_getPendingCount arginfo_class_Async_ThreadChannel_capacity

#define arginfo_class_Async_ThreadPool_getRunningCount arginfo_class_Async_ThreadChannel_capacity

#define arginfo_class_Async_ThreadPool_getCompletedCount arginfo_class_Async_ThreadChannel_capacity

#define arginfo_class_Async_ThreadPool_getWorkerCount arginfo_class_Async_ThreadChannel_capacity

#define arginfo_class_Async_ThreadPool_reload arginfo_class_Async_ThreadChannel_close


ZEND_METHOD(Async_RemoteException, getRemoteException);
ZEND_METHOD(Async_RemoteException, getRemoteClass);
ZEND_METHOD(Async_Thread, __construct);
ZEND_METHOD(Async_Thread, isRunning);
ZEND_METHOD(Async_Thread, isCompleted);
ZEND_METHOD(Async_Thread, isCancelled);
ZEND_METHOD(Async_Thread, getResult);
ZEND_METHOD(Async_Thread, getException);
ZEND_METHOD(Async_Thread, cancel);
ZEND_METHOD(Async_Thread, finally);
ZEND_METHOD(Async_ThreadChannel, __construct);
ZEND_METHOD(Async_ThreadChannel, send);
ZEND_METHOD(Async_ThreadChannel, recv);
ZEND_METHOD(Async_ThreadChannel, close);
ZEND_METHOD(Async_ThreadChannel, isClosed);
ZEND_METHOD(Async_ThreadChannel, capacity);
ZEND_METHOD(Async_ThreadChannel, count);
ZEND_METHOD(Async_ThreadChannel, isEmpty);
ZEND_METHOD(Async_ThreadChannel, isFull);
ZEND_METHOD(Async_ThreadPool, __construct);
ZEND_METHOD(Async_ThreadPool, submit);
ZEND_METHOD(Async_ThreadPool, map);
ZEND_METHOD(Async_ThreadPool, close);
ZEND_METHOD(Async_ThreadPool, cancel);
ZEND_METHOD(Async_ThreadPool, isClosed);
ZEND_METHOD(Async_ThreadPool, getPendingCount);
ZEND_METHOD(Async_ThreadPool, getRunningCount);
ZEND_METHOD(Async_ThreadPool, getCompletedCount);
ZEND_METHOD(Async_ThreadPool, getWorkerCount);
ZEND_METHOD(Async_ThreadPool, reload);


static const zend_function_entry class_Async_RemoteException_methods[] = {
	ZEND_ME(Async_RemoteException, getRemoteException, arginfo_class_Async_RemoteException_getRemoteException, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_RemoteException, getRemoteClass, arginfo_class_Async_RemoteException_getRemoteClass, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Async_ThreadTransferException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Async_Thread_methods[] = {
	ZEND_ME(Async_Thread, __construct, arginfo_class_Async_Thread___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Async_Thread, isRunning, arginfo_class_Async_Thread_isRunning, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Thread, isCompleted, arginfo_class_Async_Thread_isCompleted, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Thread, isCancelled, arginfo_class_Async_Thread_isCancelled, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Thread, getResult, arginfo_class_Async_Thread_getResult, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Thread, getException, arginfo_class_Async_Thread_getException, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Thread, cancel, arginfo_class_Async_Thread_cancel, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Thread, finally, arginfo_class_Async_Thread_finally, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Async_ThreadChannelException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Async_ThreadChannel_methods[] = {
	ZEND_ME(Async_ThreadChannel, __construct, arginfo_class_Async_ThreadChannel___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadChannel, send, arginfo_class_Async_ThreadChannel_send, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadChannel, recv, arginfo_class_Async_ThreadChannel_recv, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadChannel, close, arginfo_class_Async_ThreadChannel_close, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadChannel, isClosed, arginfo_class_Async_ThreadChannel_isClosed, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadChannel, capacity, arginfo_class_Async_ThreadChannel_capacity, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadChannel, count, arginfo_class_Async_ThreadChannel_count, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadChannel, isEmpty, arginfo_class_Async_ThreadChannel_isEmpty, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadChannel, isFull, arginfo_class_Async_ThreadChannel_isFull, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Async_ThreadPool_methods[] = {
	ZEND_ME(Async_ThreadPool, __construct, arginfo_class_Async_ThreadPool___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadPool, submit, arginfo_class_Async_ThreadPool_submit, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadPool, map, arginfo_class_Async_ThreadPool_map, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadPool, close, arginfo_class_Async_ThreadPool_close, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadPool, cancel, arginfo_class_Async_ThreadPool_cancel, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadPool, isClosed, arginfo_class_Async_ThreadPool_isClosed, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadPool, getPendingCount, arginfo_class_Async_ThreadPool_getPendingCount, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadPool, getRunningCount, arginfo_class_Async_ThreadPool_getRunningCount, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadPool, getCompletedCount, arginfo_class_Async_ThreadPool_getCompletedCount, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadPool, getWorkerCount, arginfo_class_Async_ThreadPool_getWorkerCount, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_ThreadPool, reload, arginfo_class_Async_ThreadPool_reload, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Async_ThreadPoolException_methods[] = {
	ZEND_FE_END
};

static zend_class_entry *register_class_Async_RemoteException(zend_class_entry *class_entry_Async_AsyncException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "RemoteException", class_Async_RemoteException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Async_AsyncException);
	class_entry->ce_flags |= ZEND_ACC_NO_DYNAMIC_PROPERTIES;

	zend_string *property_remoteException_class_Throwable = zend_string_init("Throwable", sizeof("Throwable")-1, 1);
	zval property_remoteException_default_value;
	ZVAL_NULL(&property_remoteException_default_value);
	zend_string *property_remoteException_name = zend_string_init("remoteException", sizeof("remoteException") - 1, 1);
	zend_declare_typed_property(class_entry, property_remoteException_name, &property_remoteException_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_remoteException_class_Throwable, 0, MAY_BE_NULL));
	zend_string_release(property_remoteException_name);

	zval property_remoteClass_default_value;
	ZVAL_EMPTY_STRING(&property_remoteClass_default_value);
	zend_string *property_remoteClass_name = zend_string_init("remoteClass", sizeof("remoteClass") - 1, 1);
	zend_declare_typed_property(class_entry, property_remoteClass_name, &property_remoteClass_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_remoteClass_name);

	return class_entry;
}

static zend_class_entry *register_class_Async_ThreadTransferException(zend_class_entry *class_entry_Async_AsyncException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "ThreadTransferException", class_Async_ThreadTransferException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Async_AsyncException);

	return class_entry;
}

static zend_class_entry *register_class_Async_Thread(zend_class_entry *class_entry_Async_Completable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "Thread", class_Async_Thread_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Async_Completable);

	return class_entry;
}

static zend_class_entry *register_class_Async_ThreadChannelException(zend_class_entry *class_entry_Async_AsyncException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "ThreadChannelException", class_Async_ThreadChannelException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Async_AsyncException);

	return class_entry;
}

static zend_class_entry *register_class_Async_ThreadChannel(zend_class_entry *class_entry_Async_Awaitable, zend_class_entry *class_entry_Countable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "ThreadChannel", class_Async_ThreadChannel_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 2, class_entry_Async_Awaitable, class_entry_Countable);

	return class_entry;
}

static zend_class_entry *register_class_Async_ThreadPool(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "ThreadPool", class_Async_ThreadPool_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Async_ThreadPoolException(zend_class_entry *class_entry_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "ThreadPoolException", class_Async_ThreadPoolException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Exception);

	return class_entry;
}
