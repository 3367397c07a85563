#include <trueasync/reactor/system_error.hpp>

#include <uv.h>

namespace trueasync {

SystemError::SystemError(int number, std::string message)
    : Error(ErrorCode::System, std::move(message), {}), number_(number) {}

Ref<Error> SystemError::make(int number, std::string attempted) {
    char text[128];
    uv_strerror_r(uv_translate_sys_error(number), text, sizeof(text));
    return Ref<Error>::adopt(
        new SystemError(number, std::move(attempted) + ": " + errno_name(number) + " (" + text + ")")
    );
}

int SystemError::number_of(const Error* error) noexcept {
    const auto* system = dynamic_cast<const SystemError*>(error);
    return system != nullptr ? system->number_ : 0;
}

std::string errno_name(int number) {
    char name[64];
    uv_err_name_r(uv_translate_sys_error(number), name, sizeof(name));
    return name;
}

}  // namespace trueasync
