#pragma once

#include <memory>
#include <trueasync/reactor/io.hpp>
#include <trueasync/reactor/work_lane.hpp>

namespace trueasync::detail {

/// A read or write of a file on a thread. Owns all it works with; belongs to its request until it is back, or to nobody.
class FileJob final : public WorkItem {
public:
    enum class Place : std::uint8_t { Offset, Here, End };

    void run() noexcept override;
    void done() noexcept override;
    void detach() noexcept override;
    void drop() noexcept override { delete this; }

    std::shared_ptr<SharedDescriptor> descriptor;
    std::unique_ptr<std::byte[]> buffer;
    std::size_t size = 0;
    std::size_t moved = 0;
    std::uint64_t offset = 0;
    int error = 0;
    IoOperation operation = IoOperation::Read;
    Place place = Place::Offset;
    IoRequest* request = nullptr;  // null: it was dropped meanwhile
    IoEvent* io = nullptr;         // where the next one waits for this one; null when none does
};

}  // namespace trueasync::detail
