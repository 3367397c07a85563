#include <trueasync/base/error.hpp>

#include <cxxabi.h>
#include <cstdlib>
#include <memory>
#include <typeinfo>

namespace trueasync {

std::string_view to_string(ErrorCode code) noexcept {
    switch (code) {
#define TA_ERROR(name, text) \
    case ErrorCode::name:    \
        return text;
#include <trueasync/base/error_codes.def>
#undef TA_ERROR
    }
    return "unknown error";
}

std::string_view to_string(CancelReason reason) noexcept {
    switch (reason) {
        case CancelReason::None:
            return "none";
        case CancelReason::UserRequest:
            return "user request";
        case CancelReason::Deadline:
            return "deadline";
        case CancelReason::Deadlock:
            return "deadlock";
        case CancelReason::Shutdown:
            return "shutdown";
        case CancelReason::Abandoned:
            return "abandoned";
        case CancelReason::Token:
            return "token";
    }
    return "unknown reason";
}

Error::Error(ErrorCode code, std::string message, Ref<Error> previous)
    : code_(code),
      message_(message.empty() ? std::string(to_string(code)) : std::move(message)),
      previous_(std::move(previous)) {}

void Error::destroy() noexcept { delete this; }

Ref<Error> Error::make(ErrorCode code, std::string message, Ref<Error> previous) {
    return Ref<Error>::adopt(new Error(code, std::move(message), std::move(previous)));
}

Ref<Error> Error::cancellation(CancelReason reason, std::string message, Ref<Error> previous) {
    auto* error = new Error(ErrorCode::Cancelled, std::move(message), std::move(previous));
    error->reason_ = reason;
    return Ref<Error>::adopt(error);
}

Ref<Error> Error::chain(Ref<Error> error, Ref<Error> previous) {
    if (error == nullptr || previous == nullptr) {
        return error != nullptr ? error : previous;
    }
    for (const Error* link = previous.get(); link != nullptr; link = link->previous()) {
        if (link == error.get()) {
            return previous;  // it is part of that chain already
        }
    }
    if (error->is_cancellation() && error->ref_count_ > 1) {  // one request may reach many
        return cancellation(error->reason_, error->message_, chain(error->previous_, std::move(previous)));
    }
    Error* last = error.get();
    while (last->previous_ != nullptr) {
        last = last->previous_.get();
        if (last == previous.get()) {
            return error;
        }
    }
    last->previous_ = std::move(previous);
    return error;
}

std::string Error::describe() const {
    std::string text = message_;
    for (const Error* error = previous(); error != nullptr; error = error->previous()) {
        text.append("; caused by: ").append(error->message());
    }
    return text;
}

namespace {

std::string readable_name(const std::type_info& type) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free
    );
    return status == 0 ? name.get() : type.name();
}

}  // namespace

CompositeError::CompositeError(std::vector<Ref<Error>> errors, std::string message)
    : Error(ErrorCode::Composite, std::move(message), {}), errors_(std::move(errors)) {}

Ref<Error> CompositeError::make(std::vector<Ref<Error>> errors, std::string message) {
    if (message.empty()) {
        message = std::to_string(errors.size()) + " errors";
        for (std::size_t i = 0; i < errors.size(); ++i) {
            message += (i == 0 ? ": " : "; ") + errors[i]->message();
        }
    }
    return Ref<Error>::adopt(new CompositeError(std::move(errors), std::move(message)));
}

ExceptionError::ExceptionError(std::exception_ptr exception, std::string message)
    : Error(ErrorCode::Exception, std::move(message), {}), exception_(std::move(exception)) {}

Ref<Error> ExceptionError::capture() {
    std::string message;
    try {
        throw;
    } catch (const std::exception& exception) {
        message.append(readable_name(typeid(exception))).append(": ").append(exception.what());
    } catch (...) {
        message = "an exception that is not a std::exception";
    }
    return Ref<Error>::adopt(new ExceptionError(std::current_exception(), std::move(message)));
}

}  // namespace trueasync
