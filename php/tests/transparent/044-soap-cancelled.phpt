--TEST--
Transparent I/O: a SOAP client that is cancelled while it loads its description is cancelled
--EXTENSIONS--
soap
true_async
--FILE--
<?php
use function Async\{await, delay, spawn};

$server = stream_socket_server('tcp://127.0.0.1:0');
$url = 'http://' . stream_socket_get_name($server, false) . '/x.wsdl';
$client = spawn(function () use ($url) {
    try {
        new SoapClient($url, ['cache_wsdl' => WSDL_CACHE_NONE]);
    } catch (Exception $e) {
        echo "caught: ", get_class($e), "\n";
    }
    echo "goes on\n";
});
stream_socket_accept($server);
$client->cancel();
try {
    await($client);
} catch (Cancellation $e) {
    echo get_class($e), ', because of ', get_class($e->getPrevious()), "\n";
}

// Whoever has caught it gets the faults of what comes later.
$client = spawn(function () use ($url) {
    try {
        new SoapClient($url, ['cache_wsdl' => WSDL_CACHE_NONE]);
    } catch (Cancellation) {
        new SoapClient(__DIR__ . '/044-no-such.wsdl');
    }
});
stream_socket_accept($server);
$client->cancel();
try {
    await($client);
} catch (SoapFault $e) {
    echo get_class($e), "\n";
}
?>
--EXPECT--
Async\AsyncCancellation, because of SoapFault
SoapFault
