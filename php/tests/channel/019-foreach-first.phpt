--TEST--
Channel: foreach may be the first asynchronous operation of a script
--EXTENSIONS--
true_async
--FILE--
<?php
$c = new Async\Channel(1);
$c->sendAsync('only');
$c->close();
foreach ($c as $value) {
    echo "$value\n";
}
echo "end\n";
--EXPECT--
only
end
