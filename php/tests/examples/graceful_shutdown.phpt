--TEST--
examples/php/graceful_shutdown.php
--EXTENSIONS--
true_async
--FILE--
<?php
require __DIR__ . '/../../../examples/php/graceful_shutdown.php';
--EXPECT--
reports: first job done
mails: first job done
SIGTERM: shutting down
reports: stops (the program ends)
reports: cleaned up
mails: stops (the program ends)
mails: cleaned up
all jobs have stopped
shutdown functions run last
