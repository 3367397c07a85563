#include <trueasync/api/select.hpp>

#include "io.hpp"

namespace trueasync::detail {

Ref<Event> make_select_timer(Duration delay) { return TimerEvent::create(need_reactor("on_timeout"), delay); }

}  // namespace trueasync::detail
