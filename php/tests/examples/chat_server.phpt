--TEST--
examples/php/chat_server.php
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../../../examples/php/chat_server.php';
--EXPECT--
Ann heard:
  * Ann joins
  * Bob joins
  * Cid joins
  Bob: hello Ann
  * Cid leaves
Bob heard:
  * Bob joins
  * Cid joins
  Ann: good morning
  * Cid leaves
Cid heard:
  * Cid joins
  Ann: good morning
  Bob: hello Ann
the server has stopped
