#pragma once

/// `Async\FutureState` and `Async\Future`: two objects, one completion.

#include "../value.hpp"

#include <trueasync/structured/group.hpp>
#include <trueasync/sync/future.hpp>

#include <cstdint>

namespace trueasync::php {

class Shown;

inline zend_class_entry* ce_future_state = nullptr;
inline zend_class_entry* ce_future = nullptr;

/// The completion that both objects share. Knows where it was made and completed.
class PhpFuture : public FutureOf<Value> {
public:
    /// Made where PHP code is now.
    PhpFuture();
    ~PhpFuture() override = default;

    Place created_at() const override { return created_; }
    Place completed_at() const override { return completed_; }

    bool has_object = false;  // of a derived one: PHP code can reach it

    /// The present place becomes that of the completion; call it right before completing.
    void completing_here() noexcept;
    void completing_at(const Place& place) noexcept;

private:
    Value created_file_;  // keep the texts of the places
    Value completed_file_;
    Place created_;
    Place completed_;
};

/// A new `Future` object that reads `future`; one reference. `file` keeps the text of its place, where the future does not.
zend_object* make_future(Ref<FutureOf<Value>> future, Value file = {}) noexcept;

/// The same for an answer of `asked`, which forgets it when the object goes before the answer has come.
zend_object* make_future(Ref<PhpFuture> future, GroupEvent& asked) noexcept;

/// Shows what hangs on a future that `holders` hold who are seen; nothing if more do.
void show_future(FutureOf<Value>& future, std::uint32_t holders, Shown& shown);

/// A state for another thread, which alone may complete from now on; one reference. Null: it threw, since this is done once.
zend_object* give_future_state(zend_object* state) noexcept;
/// The other thread was not reached: as if it had never been given.
void take_back_future_state(zend_object* state) noexcept;

void register_future();

}  // namespace trueasync::php
