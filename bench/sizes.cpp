/// @file bench/sizes.cpp
/// Prints what one object of each public type weighs. A type that a build leaves out is skipped.

#include <cstddef>
#include <cstdio>

#include <trueasync/trueasync.hpp>
#if __has_include(<trueasync/event/manual_event.hpp>)
#include <trueasync/event/manual_event.hpp>
#endif

namespace trueasync {
class Event;
class Callback;
class Coroutine;
class ManualEvent;
class Runtime;
class Scheduler;
class TimerEvent;
class TriggerEvent;
class Waker;
}  // namespace trueasync

namespace {

template <typename T>
void print_size(const char* name) {
    if constexpr (requires { sizeof(T); }) {
        std::printf("%-16s %5zu\n", name, sizeof(T));
    }
}

}  // namespace

int main() {
    print_size<trueasync::Event>("Event");
    print_size<trueasync::Callback>("Callback");
    print_size<trueasync::Waker>("Waker");
    print_size<trueasync::Coroutine>("Coroutine");
    print_size<trueasync::ManualEvent>("ManualEvent");
    print_size<trueasync::TimerEvent>("TimerEvent");
    print_size<trueasync::TriggerEvent>("TriggerEvent");
    print_size<trueasync::Scheduler>("Scheduler");
    print_size<trueasync::Runtime>("Runtime");
    return 0;
}
