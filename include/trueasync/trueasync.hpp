#pragma once

/// @file trueasync/trueasync.hpp
/// Everything a program needs.

#include <trueasync/api/await.hpp>
#include <trueasync/api/await_many.hpp>
#include <trueasync/api/barrier.hpp>
#include <trueasync/api/channel.hpp>
#include <trueasync/api/context.hpp>
#include <trueasync/api/exceptions.hpp>
#include <trueasync/api/exec.hpp>
#include <trueasync/api/file.hpp>
#include <trueasync/api/future.hpp>
#include <trueasync/api/handle.hpp>
#include <trueasync/api/iterate.hpp>
#include <trueasync/api/mutex.hpp>
#include <trueasync/api/net.hpp>
#include <trueasync/api/pool.hpp>
#include <trueasync/api/process.hpp>
#include <trueasync/api/remote_future.hpp>
#include <trueasync/api/resolve.hpp>
#include <trueasync/api/run.hpp>
#include <trueasync/api/run_blocking.hpp>
#include <trueasync/api/scope.hpp>
#include <trueasync/api/select.hpp>
#include <trueasync/api/semaphore.hpp>
#include <trueasync/api/signal.hpp>
#include <trueasync/api/spawn.hpp>
#include <trueasync/api/task_group.hpp>
#include <trueasync/api/thread.hpp>
#include <trueasync/api/thread_channel.hpp>
#include <trueasync/api/thread_pool.hpp>
#include <trueasync/api/watch.hpp>
#include <trueasync/debug/dump.hpp>
#include <trueasync/event/event_ref.hpp>
#include <trueasync/event/manual_event.hpp>
#include <trueasync/reactor/poll.hpp>
#include <trueasync/reactor/timer.hpp>
#include <trueasync/reactor/trigger.hpp>
