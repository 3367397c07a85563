--TEST--
Output of an included file goes to the buffers of the coroutine
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, suspend, await_all};

$file = __DIR__ . '/004-output.inc.php';
file_put_contents($file, '<b><?= $n ?></b><?php Async\suspend(); ?><i><?= $n ?></i>');
$render = fn($n) => spawn(function () use ($n, $file) { ob_start(); include $file; return ob_get_clean(); });
print_r(await_all([$render(1), $render(2)])[0]);
?>
--CLEAN--
<?php @unlink(__DIR__ . '/004-output.inc.php'); ?>
--EXPECT--
Array
(
    [0] => <b>1</b><i>1</i>
    [1] => <b>2</b><i>2</i>
)
