--TEST--
Transparent I/O: each coroutine's call of a SOAP client has its own description and classes
--EXTENSIONS--
soap
true_async
--INI--
soap.wsdl_cache_enabled=0
--FILE--
<?php
require __DIR__ . '/042-soap.inc';
use function Async\{await_all, spawn};

class Foo { public $a; }
class Bar { public $a; }
describe($file = __DIR__ . '/042-soap.wsdl');

function call(?string $class, int $pause): string {
    $client = new Client($GLOBALS['file'], ['classmap' => $class !== null ? ['T' => $class] : []]);
    $client->pause = $pause;
    $answer = $client->f();
    unset($client);
    return get_class($answer);
}

$calls = [];
foreach ([['Foo', 30], ['Bar', 10], [null, 0], ['Bar', 20], ['Foo', 40]] as $arguments) {
    $calls[] = spawn(call(...), ...$arguments);
}
[$answers, $errors] = await_all($calls);
echo implode(' ', $answers), ' ', count($errors), "\n";
try {
    new SoapClient(__DIR__ . '/042-no-such.wsdl');
} catch (SoapFault $e) {
    echo substr($e->getMessage(), 0, 24), "\n";
}
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/042-soap.wsdl');
?>
--EXPECT--
Foo Bar stdClass Bar Foo 0
SOAP-ERROR: Parsing WSDL
