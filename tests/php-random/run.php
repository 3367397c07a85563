<?php
/// Random programs, each executed by the extension and by a model, and compared line by line.
///
/// Usage: php run.php [first seed [count]]       (one program when only a seed is given: what it did is printed)
///
/// Ends with a line `N programs, seeds A to B`; a difference ends it with status 1 and the seed.

require __DIR__ . '/program.php';
require __DIR__ . '/model.php';
require __DIR__ . '/real.php';

$first = (int) ($argv[1] ?? random_int(1, 1_000_000_000));
$count = (int) ($argv[2] ?? 1);
$lines = 0;
for ($seed = $first; $seed < $first + $count; ++$seed) {
    $program = new Program($seed);
    $model = new Model($program);
    $model->run();
    $real = new Real($program);
    $real->run();
    $lines += count($real->log);
    if ($real->log !== $model->log || $real->cycles !== 0) {
        echo "seed $seed: not what the model says\n";
        foreach (array_map(null, $real->log, $model->log) as $i => [$done, $expected]) {
            printf("%s %-40s %s\n", $done === $expected ? ' ' : '!', $done, $expected);
            if ($done !== $expected) {
                break;
            }
        }
        if ($real->cycles !== 0) {
            echo "$real->cycles destructors of cycles did not run\n";
        }
        exit(1);
    }
    if ($count === 1) {
        echo implode("\n", $real->log), "\n";
    }
}
printf("%d programs, seeds %d to %d, %d lines compared\n", $count, $first, $first + $count - 1, $lines);
