#pragma once

/// `stream_set_timeout()` holds for `stream_socket_recvfrom()` too. PHP itself waits there for ever.

namespace trueasync::php {

void datagram_minit();

}  // namespace trueasync::php
