#pragma once

/// @file trueasync/event/host_objects.hpp
/// How an embedding runtime counts the objects that are events.

#include <cstdint>
#include <trueasync/base/export.hpp>

namespace trueasync {

/// Counting for events that live as objects of a host (flag `HostObject`) and for host objects that events hold
/// (flag `ObjectRef`). The pointers are the host's own objects.
///
/// Thread rule: one implementation per process, set before the first host event is made.
class TA_API HostObjects {
public:
    virtual ~HostObjects() = default;

    virtual void add_ref(void* object) noexcept = 0;
    virtual void release(void* object) noexcept = 0;

    /// How many references there are, to learn whether anybody but the runtime holds an object.
    virtual std::uint32_t ref_count(const void* object) const noexcept = 0;
};

/// The host's counting; one that counts nothing when there is no host.
TA_API HostObjects& host_objects() noexcept;
TA_API void set_host_objects(HostObjects* host) noexcept;

}  // namespace trueasync
