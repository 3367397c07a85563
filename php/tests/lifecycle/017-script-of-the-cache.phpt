--TEST--
A script that opcache knows from an earlier request ends like one that was just compiled: what is left runs, and the collector's threshold stays
--EXTENSIONS--
opcache
--FILE--
<?php
file_put_contents(__DIR__ . '/017-cached.php', <<<'CODE'
<?php
Async\suspend();
for ($i = 0; $i < 12000; $i++) { $x = new stdClass; $x->x = $x; }
Async\spawn(function () { Async\delay(1); echo "left over\n"; });
register_shutdown_function(function () { echo "shutdown\n"; });
echo 'cached: ', json_encode(opcache_is_script_cached(__FILE__)), ', threshold ', gc_status()['threshold'], "\n";
CODE);
$command = getenv('TEST_PHP_EXECUTABLE') . ' ' . getenv('TEST_PHP_EXTRA_ARGS') .
    ' -d opcache.enable_cli=1 -d opcache.file_update_protection=0 -S 127.0.0.1:0 ' . escapeshellarg(__DIR__ . '/017-cached.php');
$server = proc_open("exec $command", [2 => ['pipe', 'w']], $pipes);
while (($line = fgets($pipes[2])) !== false && !preg_match('~\(http://(\S+)\) started~', $line, $found));
for ($i = 0; $i < 3; $i++) {
    echo file_get_contents("http://$found[1]/");
}
proc_terminate($server);
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/017-cached.php');
?>
--EXPECT--
cached: true, threshold 10001
left over
shutdown
cached: true, threshold 10001
left over
shutdown
cached: true, threshold 10001
left over
shutdown
