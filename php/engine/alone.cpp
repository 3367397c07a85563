#include "alone.hpp"

#include "../classes/coroutine.hpp"
#include "compiler.hpp"
#include "replace.hpp"
#include "transparent.hpp"
#include "uses.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace trueasync::php {

namespace {

enum class Shared : std::uint8_t { Parser, Session, Line, Sort, Scanner, Marks };

struct Function {
    const char* name;
    Shared shared;
};

constexpr std::array kFunctions = {
    Function{"parse_ini_file", Shared::Parser},
    Function{"parse_ini_string", Shared::Parser},
    Function{"readline", Shared::Line},
    Function{"array_multisort", Shared::Sort},
    Function{"highlight_file", Shared::Scanner},
    Function{"show_source", Shared::Scanner},
    Function{"highlight_string", Shared::Scanner},
    Function{"php_strip_whitespace", Shared::Scanner},
    Function{"var_dump", Shared::Marks},
    Function{"debug_zval_refcount", Shared::Marks},
    Function{"debug_zval_dump", Shared::Marks},
    Function{"session_abort", Shared::Session},
    Function{"session_commit", Shared::Session},
    Function{"session_create_id", Shared::Session},
    Function{"session_decode", Shared::Session},
    Function{"session_destroy", Shared::Session},
    Function{"session_encode", Shared::Session},
    Function{"session_gc", Shared::Session},
    Function{"session_id", Shared::Session},
    Function{"session_regenerate_id", Shared::Session},
    Function{"session_reset", Shared::Session},
    Function{"session_set_save_handler", Shared::Session},
    Function{"session_start", Shared::Session},
    Function{"session_unset", Shared::Session},
    Function{"session_write_close", Shared::Session},
};

constexpr std::size_t find(const char* name) {
    std::size_t i = 0;
    while (std::string_view(kFunctions[i].name) != name) {
        ++i;
    }
    return i;
}

std::array<zif_handler, kFunctions.size()> before = {};
const zend_function* session_abort = nullptr;

class Turn {
public:
    explicit Turn(Shared shared) noexcept : subject_(&subjects[static_cast<std::size_t>(shared)]) {
        has_begun_ = begin_turn(subject_);
        if (has_begun_) {
            note_inside(subject_);
        }
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
        if (has_begun_) {
            forget_inside(subject_);
            end_turn(subject_);
        }
    }
    bool has_begun() const noexcept { return has_begun_; }

private:
    struct alignas(8) Subject {};
    static constexpr Subject subjects[4] = {};

    const void* subject_;
    bool has_begun_;
};

/// What is printed meanwhile goes out afterwards, so that nobody waits for its reader in the middle.
class HeldOutput {
public:
    HeldOutput() noexcept
        : is_held_(!OutputState::has_buffers() && OG(running) == nullptr && php_output_start_default() == SUCCESS) {}
    HeldOutput(const HeldOutput&) = delete;
    HeldOutput& operator=(const HeldOutput&) = delete;
    ~HeldOutput() {
        if (is_held_) {
            php_output_end();
        }
    }

private:
    bool is_held_;
};

/// The handler that keeps sessions in files does not notice that it was refused the lock: it would store what it has read without it.
void leave_cut_off_session(zval* result) noexcept {
    PhpCoroutine* self = cut_off_coroutine();
    if (self == nullptr || self->is_cut_off_aside() || session_abort == nullptr) {
        return;
    }
    begin_cut_off_aside(*self);
    zval ignored;
    zend_call_known_function(
        const_cast<zend_function*>(session_abort), nullptr, nullptr, &ignored, 0, nullptr, nullptr
    );
    zval_ptr_dtor(&ignored);
    if (self->cut_off() != nullptr) {
        end_cut_off_aside(*self);
    }
    zval_ptr_dtor(result);
    ZVAL_FALSE(result);
}

template <std::size_t index>
ZEND_NAMED_FUNCTION(call) {
    constexpr Shared kShared = kFunctions[index].shared;
    const auto call_before = [&] { before[index](INTERNAL_FUNCTION_PARAM_PASSTHRU); };
    if (!is_watching() || request.is_dying) {
        call_before();
    } else if constexpr (kShared == Shared::Marks) {
        const HeldOutput held;
        call_before();
    } else if constexpr (kShared == Shared::Scanner) {
        const HeldOutput held;
        if (begin_compiling()) {
            call_before();
            end_compiling();
        }
    } else if (const Turn turn(kShared); turn.has_begun()) {
        call_before();
        if constexpr (index == find("session_start")) {
            leave_cut_off_session(return_value);
        }
    }
}

template <std::size_t... index>
void replace_all(std::index_sequence<index...> /*all*/) noexcept {
    ((before[index] = replace_handler(CG(function_table), kFunctions[index].name, call<index>)), ...);
}

zend_result (*post_startup_before)() = nullptr;

zend_result guard_all() {
    replace_all(std::make_index_sequence<kFunctions.size()>());
    session_abort =
        static_cast<const zend_function*>(zend_hash_str_find_ptr(CG(function_table), ZEND_STRL("session_abort")));
    return post_startup_before != nullptr ? post_startup_before() : SUCCESS;
}

}  // namespace

void alone_minit() noexcept { post_startup_before = std::exchange(zend_post_startup_cb, guard_all); }

}  // namespace trueasync::php
