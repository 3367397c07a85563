#pragma once

/// `stream_set_timeout()` works on pipes too. PHP itself refuses it: a program that reads from one could not give up.

namespace trueasync::php {

void pipe_timeout_minit();

}  // namespace trueasync::php
