--TEST--
signal(): unused futures, also with a long timeout, do not keep the process alive
--EXTENSIONS--
true_async
--FILE--
<?php
use Async\Signal;
use function Async\{signal, timeout, spawn};

$began = hrtime(true);
register_shutdown_function(function () use ($began) {
    echo 'soon: ', var_export(hrtime(true) - $began < 3e9, true), "\n";
});
$one = signal(Signal::SIGUSR1)->ignore();
$two = signal(Signal::SIGTERM, timeout(9000))->ignore();
spawn(function () {
    $three = signal(Signal::SIGINT)->ignore();
});
echo "done\n";
?>
--EXPECT--
done
soon: true
