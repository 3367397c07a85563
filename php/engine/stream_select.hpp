#pragma once

/// `stream_select()` without any stream is an error in plain PHP; in a coroutine there is just nothing to wait for.

namespace trueasync::php {

void stream_select_minit();

}  // namespace trueasync::php
