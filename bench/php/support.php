<?php
// A benchmark is a function of a number of operations that returns the nanoseconds they took. One process is one round.

const SLICES = 5; // of a round; the fastest one counts

function calibrate(callable $benchmark, float $slice): int {
    for ($operations = 1000;; $operations *= 2) {
        $ns = $benchmark($operations);
        if ($ns >= $slice / 10) {
            return max(1000, (int) ($operations * $slice / $ns));
        }
    }
}

function print_figure(string $name, string $unit, float $value, array $more = []): void {
    echo json_encode(['name' => $name, 'unit' => $unit, 'median' => $value, 'rounds' => 1] + $more), "\n";
}

/** Takes each in turn, slice by slice, so that a slow moment touches all of them. `--round-ms N` is the length of one. */
function run_round(array $benchmarks): void {
    global $argv;
    $at = array_search('--round-ms', $argv, true);
    $slice = ($at !== false ? (int) $argv[$at + 1] : 50) * 1e6 / SLICES;
    $operations = array_map(fn (callable $benchmark) => calibrate($benchmark, $slice), $benchmarks);
    $fastest = [];
    for ($i = 0; $i < SLICES; ++$i) {
        foreach ($benchmarks as $name => $benchmark) {
            $ns = $benchmark($operations[$name]) / $operations[$name];
            $fastest[$name] = min($ns, $fastest[$name] ?? INF);
        }
    }
    foreach ($fastest as $name => $ns) {
        print_figure($name, 'ns', $ns);
    }
}

/** Processor time of the process in milliseconds. */
function cpu_ms(): float {
    $usage = getrusage();
    return ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) * 1e3 + ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) / 1e3;
}

/** Resident memory and page tables of the process in KiB. */
function memory_kib(): array {
    $status = file_get_contents('/proc/self/status');
    $line = fn (string $key) => preg_match("/^$key:\s+(\d+)/m", $status, $found) ? (int) $found[1] : 0;
    return [$line('VmRSS'), $line('VmPTE')];
}
