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

constinit NoHost none;
constinit std::atomic<HostObjects*> current = &none;

}  // namespace

HostObjects& host_objects() noexcept { return *current.load(std::memory_order_acquire); }

void set_host_objects(HostObjects* host) noexcept {
    current.store(host != nullptr ? host : &none, std::memory_order_release);
}

}  // namespace trueasync
