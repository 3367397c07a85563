<?php
// An exception that nobody takes is reported and ends the script; one that somebody might still take, when that is over.
use function probe\{spawn, delay};

function fail($text = 'nobody takes this') { throw new Exception($text); }
function fail_quietly() { fail('nobody asked'); }

$kept = spawn('fail_quietly');
delay(0);
spawn('fail');
delay(1000);
echo "not reached\n";
