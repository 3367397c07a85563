<?php
// An exception that nobody takes ends the script, as it does in main.
use function probe\{spawn, suspend, await, delay};

spawn(function () { throw new Exception('nobody takes this'); });
delay(1000);
echo "not reached\n";
