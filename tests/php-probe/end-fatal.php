<?php
// A fatal error in a coroutine ends the script; the engine is left through main.
use function probe\{spawn, suspend, await, delay};

register_shutdown_function(function () { echo "shutdown function\n"; });
spawn(function () { delay(1000); echo "not reached\n"; });
spawn(function () { suspend(); eval('break;'); });
delay(1000);
echo "not reached\n";
