--TEST--
Channel: a future of recvAsync that nobody used warns
--EXTENSIONS--
true_async
--FILE--
<?php
$c = new Async\Channel(1);
$c->sendAsync(1);
$c->recvAsync();
echo "end\n";
--EXPECTF--

Warning: Future was never used; call await(), map(), catch(), finally() or ignore() to suppress this warning. Created at %s:4 in %s on line 4
end
