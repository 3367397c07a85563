#include <trueasync/reactor/descriptor_table.hpp>

#include <cerrno>
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

const Wait::Kind DescriptorWait::kDescriptorWait = {
    [](const Wait& wait, std::vector<std::string>& lines) {
        const auto& self = static_cast<const DescriptorWait&>(wait);
        lines.push_back("Poll(fd=" + std::to_string(self.fd_) + ", " + to_string(self.wanted_) + ")");
        if (self.deadline_ != Instant::max()) {
            describe_deadline(self.deadline_, lines);
        }
        self.describe_guard(lines);
    },
    [](Wait& wait, Coroutine& /*coroutine*/) noexcept { static_cast<DescriptorWait&>(wait).leave(); },
    [](const Wait& wait, const Coroutine& /*coroutine*/) noexcept {
        const auto& self = static_cast<const DescriptorWait&>(wait);
        return self.is_woken() || self.waker().has_fired();
    },
};

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
    try {
        while (size_ < size_for(fd)) {
            chunks_.push_back(std::make_unique<Descriptor[]>(kChunk));
            size_ += kChunk;
        }
    } catch (const std::bad_alloc&) {
        errno = ENOMEM;
        return nullptr;
    }
    return find(fd);
}

}  // namespace trueasync
