--TEST--
A redeclaration is the usual fatal error; nothing runs afterwards
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await, delay};

$file = __DIR__ . '/003-redeclared.inc.php';
file_put_contents($file, '<?php function declared_once() {} return 1;');
spawn(function () { try { delay(10000); } finally { echo "never\n"; } });
spawn(function () use ($file) {
    require $file;
    echo "once\n";
    suspend();
    try {
        require $file;
    } catch (Throwable) {
        echo "never\n";
    }
    echo "never\n";
});
delay(10000);
echo "never\n";
?>
--CLEAN--
<?php @unlink(__DIR__ . '/003-redeclared.inc.php'); ?>
--EXPECTF--
once

Fatal error: Cannot redeclare %Sdeclared_once() (previously declared in %s) in %s003-redeclared.inc.php on line 1
