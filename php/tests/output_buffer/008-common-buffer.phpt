--TEST--
The buffer that PHP has opened for the page is common to all coroutines
--EXTENSIONS--
true_async
--INI--
output_buffering=4096
--FILE--
<?php
use function Async\{await, spawn, suspend};

echo "page, ";
await(spawn(function () {
    echo "plain, ";
    ob_start(fn($text) => "[$text]");
    echo "own";
    suspend();
    echo ' ', ob_get_level(), ' ', ob_get_status()['level'];
}));  // only its own is ended
echo ", ", ob_get_level(), ", headers ", headers_sent() ? "sent\n" : "not sent\n";

// A buffer above it is the script's own.
ob_start(fn($text) => "main: $text");
echo "kept\n";
await(spawn(function () { echo "past it\n"; }));
ob_end_flush();

// One in the middle of its own ones, while another ends the common one.
$inner = spawn(function () {
    ob_start(fn($text) => "($text");
    ob_start(fn($text) => "$text)");
    echo "inner";
    suspend();
    suspend();
    echo ob_get_level(), json_encode(array_column(ob_get_status(true), 'level'));
});
suspend();
await(spawn(function () {
    $page = ob_get_clean();
    echo ob_get_level(), "\n", $page;
}));
await($inner);
echo "\n", ob_get_level(), "\n";

// What is opened in its place is the script's own.
ob_start(fn($text) => "main: $text");
echo "kept\n";
await(spawn(function () { echo ob_get_level(), "\n"; }));
ob_end_flush();
ob_start(null, 0, PHP_OUTPUT_HANDLER_STDFLAGS ^ PHP_OUTPUT_HANDLER_REMOVABLE);
spawn(function () { ob_start(null, 0, 0); echo "stays to the end\n"; });
echo "goes at the end\n";
?>
--EXPECT--
0
page, plain, [own 2 1], 1, headers not sent
past it
main: kept
(inner2[0,1])
0
0
main: kept
stays to the end
goes at the end
