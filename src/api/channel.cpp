#include <trueasync/api/channel.hpp>

namespace trueasync {

ChannelClosed::ChannelClosed(const Error& error) : AsyncError(error) {
    if (const ChannelError* closed = ChannelError::of(&error)) {
        reason_ = closed->close_reason();
    }
}

namespace detail {

ChannelSettings checked_settings(std::int64_t capacity, ChannelSettings settings) {
    if (capacity < 0 || capacity > std::int64_t{ChannelSettings::kMaxCapacity}) {
        throw_error(Error::make(
            ErrorCode::InvalidArgument, "the capacity of a channel must be between 0 and " +
                                            std::to_string(ChannelSettings::kMaxCapacity) + ", not " +
                                            std::to_string(capacity)
        ));
    }
    settings.capacity = static_cast<std::uint32_t>(capacity);
    return settings;
}

bool ended_normally(WaitResult result) {
    Ref<Error> error = result == WaitResult::Failed ? Scheduler::take_wait_error() : nullptr;
    if (const ChannelError* closed = ChannelError::of(error.get())) {
        if (closed->close_reason() == ChannelCloseReason::Explicit) {
            return true;
        }
    }
    if (error != nullptr) {
        throw_error(error);
    }
    throw_wait_error(result);
}

}  // namespace detail

}  // namespace trueasync
