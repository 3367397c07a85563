--TEST--
Transparent I/O: the child of pcntl_fork() goes on with coroutines of its own, and so does the parent
--EXTENSIONS--
true_async
pcntl
--FILE--
<?php
use function Async\{spawn, await_all};

function sleepers(): string {
    $begin = hrtime(true);
    for ($i = 0; $i < 20; $i++) {
        $all[] = spawn(fn() => usleep(50_000));
    }
    await_all($all);
    return hrtime(true) - $begin < 500_000_000 ? 'at once' : 'one after another';
}
echo 'before: ', sleepers(), "\n";
$child = pcntl_fork();
if ($child === 0) {
    echo 'child: ', sleepers(), "\n";
    exit(5);
}
pcntl_waitpid($child, $status);
echo 'ended with ', pcntl_wexitstatus($status), "\n";
echo 'parent: ', sleepers(), "\n";
?>
--EXPECT--
before: at once
child: at once
ended with 5
parent: at once
