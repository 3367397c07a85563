#include <trueasync/transparent/transparent.hpp>

#include <dlfcn.h>
#include <pthread.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string_view>
#include <trueasync/reactor/system_error.hpp>

#include "got.hpp"
#include "hooks.hpp"
#include "state.hpp"

namespace trueasync {

namespace hooked {

namespace {

#define TA_HOOK(name) {#name, reinterpret_cast<void*>(&::name), reinterpret_cast<void*>(&hooked::name)},
#define TA_HOOK_HIDDEN(name) {#name, nullptr, reinterpret_cast<void*>(&hooked::name)},
const Replacement kReplacements[] = {
#include "hooks.def"
};
#undef TA_HOOK
#undef TA_HOOK_HIDDEN

/// What must reach the originals: the C library and its parts, libuv, the loader, the sanitizers, what is called while a lock of the
/// engine is held, and a debugger, which stops everybody.
constexpr std::string_view kSkipped[] = {
    "ld-linux",   "linux-vdso", "libc.so",   "libpthread", "libdl.",     "librt.",     "libresolv",      "libnss_",
    "libuv.",     "libasan",    "libtsan",   "liblsan",    "libubsan",   "libstdc++",  "libgcc_s",       "libm.so",
    "vgpreload_", "opcache.so", "xdebug.so", "libanl.so",  "libmvec.so", "libutil.so", "libBrokenLocale"};

/// Whoever waits must hear of these, so they cannot be left out, neither by their names nor with the object that calls them.
constexpr std::string_view kNeeded[] = {"close", "close_range", "fclose", "dup2", "dup3", "pclose", "vfork", "dlopen"};

bool is_needed(const Replacement& one) { return std::ranges::find(kNeeded, one.name) != std::end(kNeeded); }

bool is_wanted(const Replacement& one, const TransparentSettings& settings) {
    return std::ranges::find(settings.skipped_functions, one.name) == settings.skipped_functions.end() ||
           is_needed(one);
}

/// Guarded by its mutex. Never destroyed: hooks are called to the very end.
struct Installation {
    std::mutex mutex;
    TransparentSettings settings;
    std::vector<Replacement> replacements;  // the needed ones first
    std::size_t needed = 0;
    RewriteCounts counts;
    bool is_installed = false;
};

Installation& installation() noexcept {
    // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): out of memory is the end
    static auto* all = new Installation;
    return *all;
}

std::span<const Replacement> choose(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    const auto begins = [name](std::string_view start) { return !start.empty() && name.starts_with(start); };
    const Installation& all = installation();
    const std::span<const Replacement> replacements = all.replacements;
    if (std::ranges::any_of(kSkipped, begins)) {
        return {};
    }
    return std::ranges::any_of(all.settings.skipped_objects, begins) ? replacements.first(all.needed) : replacements;
}

bool is_left_out(std::string_view path) { return choose(path).size() != installation().replacements.size(); }

}  // namespace

constinit State state;

void look_for_objects() noexcept {
    Installation& all = installation();
    const std::lock_guard lock(all.mutex);
    if (all.is_installed && have_objects_changed()) {
        rewrite_objects(choose, all.counts);
    }
}

void* hook_of(const void* found, const char* name) noexcept {
    Installation& all = installation();
    const std::lock_guard lock(all.mutex);
    for (const Replacement& one : all.replacements) {
        if (one.original == found && std::strcmp(one.name, name) == 0) {
            return one.hook;
        }
    }
    return nullptr;
}

}  // namespace hooked

using hooked::installation;
using hooked::Installation;

Status install_transparent(const TransparentSettings& settings) {
    Installation& all = installation();
    {
        const std::lock_guard lock(all.mutex);
        if (!all.is_installed) {
            all.settings = settings;
            all.replacements.clear();
            std::ranges::copy_if(
                hooked::kReplacements, std::back_inserter(all.replacements),
                [&](const hooked::Replacement& one) { return hooked::is_wanted(one, settings); }
            );
            const auto rest = std::ranges::stable_partition(all.replacements, &hooked::is_needed);
            all.needed = all.replacements.size() - rest.size();
            // Objects call us until the process ends.
            if (Dl_info here{}; ::dladdr(reinterpret_cast<void*>(&install_transparent), &here) != 0) {
                ::dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
            }
            if (!hooked::rewrite_objects(hooked::choose, all.counts, settings.host)) {
                return system_failure(ENOTSUP, "replace blocking calls");
            }
            hooked::have_objects_changed();
            all.is_installed = true;
            ::pthread_atfork(nullptr, nullptr, [] { set_transparent(false); });
            set_transparent(true);
            return {};
        }
    }
    hooked::look_for_objects();
    return {};
}

bool replace_call(const void* code, const char* name, void* hook) noexcept {
    Installation& all = installation();
    const std::lock_guard lock(all.mutex);
    const hooked::Replacement one{name, nullptr, hook};
    return all.is_installed && hooked::rewrite_object(code, {&one, 1}, hooked::is_left_out);
}

void set_transparent(bool is_on) noexcept { hooked::state.is_on.store(is_on, std::memory_order_relaxed); }
bool is_transparent() noexcept { return hooked::is_on(); }
void set_transparent_host(TransparentHost* host) noexcept { hooked::state.host = host; }

TransparentStats transparent_stats() noexcept {
    Installation& all = installation();
    const std::lock_guard lock(all.mutex);
    return {all.counts.objects, all.counts.slots, all.counts.refused};
}

}  // namespace trueasync
