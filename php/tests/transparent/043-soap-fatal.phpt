--TEST--
Transparent I/O: a fatal error is reported while a SOAP client of another coroutine waits
--EXTENSIONS--
soap
true_async
--INI--
soap.wsdl_cache_enabled=0
--FILE--
<?php
require __DIR__ . '/042-soap.inc';
use function Async\{await, delay, spawn};

describe($file = __DIR__ . '/043-soap.wsdl');
spawn(function () use ($file) {
    $client = new Client($file);
    $client->pause = 1000;
    $client->f();
    echo "answered\n";
});
await(spawn(function () {
    delay(5);
    echo "before\n";
    trigger_error('mine', E_USER_ERROR);
    echo "after\n";
}));
echo "goes on\n";
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/043-soap.wsdl');
?>
--EXPECTF--
before

Fatal error: mine in %s043-soap-fatal.php on line %d
