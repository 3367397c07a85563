--TEST--
pcntl_fork() is unchanged while the scheduler was never used
--EXTENSIONS--
true_async
pcntl
--FILE--
<?php
$pid = pcntl_fork();
if ($pid === 0) {
    exit(5);
}
pcntl_waitpid($pid, $status);
var_dump(pcntl_wexitstatus($status), Async\get_coroutines());
?>
--EXPECT--
int(5)
array(0) {
}
