#include <atomic>
#include <trueasync/event/host_objects.hpp>

namespace trueasync {

namespace {

class NoHost final : public HostObjects {
public:
    void add_ref(void*) noexcept override {}
    void release(void*) noexcept override {}
    std::uint32_t ref_count(const void*) const noexcept override { return 0; }
};

std::atomic<HostObjects*> current = nullptr;

}  // namespace

HostObjects& host_objects() noexcept {
    static NoHost none;
    HostObjects* host = current.load(std::memory_order_acquire);
    return host != nullptr ? *host : none;
}

void set_host_objects(HostObjects* host) noexcept { current.store(host, std::memory_order_release); }

}  // namespace trueasync
