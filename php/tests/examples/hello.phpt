--TEST--
examples/php/hello.php
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../../../examples/php/hello.php';
--EXPECTREGEX--
a program, 42, a pipe
seconds: [12]
