#include <trueasync/reactor/descriptor_table.hpp>

#include <new>

namespace trueasync {

std::string to_string(PollMask mask) {
    static constexpr struct {
        PollMask bit;
        const char* name;
    } kNames[] = {
        {PollMask::Readable, "READABLE"},
        {PollMask::Writable, "WRITABLE"},
        {PollMask::Disconnect, "DISCONNECT"},
        {PollMask::Priority, "PRIORITY"},
    };
    std::string text;
    for (const auto& [bit, name] : kNames) {
        if (any(mask & bit)) {
            text += (text.empty() ? "" : "|") + std::string(name);
        }
    }
    return text.empty() ? "NONE" : text;
}

std::string DescriptorWait::describe(const WaitGuard& wait) {
    const auto& self = static_cast<const DescriptorWait&>(wait);
    return "Poll(fd=" + std::to_string(self.fd_) + ", " + to_string(self.wanted_) + ")";
}

PollMask Descriptor::wanted() const noexcept {
    PollMask all = PollMask::None;
    for (const DescriptorWait& wait : waits) {
        all |= wait.wanted();
    }
    for (const DescriptorWatch& watch : watches) {
        all |= watch.wanted();
    }
    return all;
}

Descriptor* DescriptorTable::reach(int fd) noexcept {
    if (fd < 0) {
        return nullptr;
    }
    try {
        while (static_cast<unsigned>(fd) >= size_) {
            chunks_.push_back(std::make_unique<Descriptor[]>(kChunk));
            size_ += kChunk;
        }
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    return find(fd);
}

}  // namespace trueasync
