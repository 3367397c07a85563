#pragma once

/// Two coroutines may need the same class while its autoloader suspends. The engine takes the second for a recursion and answers "class
/// not found"; here the second waits for the first.

namespace trueasync::php {

void autoload_minit();
void autoload_request_end();
void autoload_mshutdown();

}  // namespace trueasync::php
