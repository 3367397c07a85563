<?php
// Progress while it runs, and a timeline afterwards.

final class Display {
    public float $seconds = 0;
    /** @var list<array{string, float, float}> kind, begin and end of each item */
    public array $items = [];
    private float $began;
    private array $done;
    private bool $isTerminal;
    private int $lines = 0;

    public function __construct(public readonly string $title, public readonly array $kinds) {
        $this->isTerminal = stream_isatty(STDOUT);
        $this->done = array_map(fn () => 0, $kinds);
        $this->began = microtime(true);
        echo "$title\n";
    }

    public function begin(string $kind): int {
        $this->items[] = [$kind, microtime(true) - $this->began, INF];
        return count($this->items) - 1;
    }

    public function end(int $item): void {
        $this->items[$item][2] = microtime(true) - $this->began;
        ++$this->done[$this->items[$item][0]];
    }

    /** On a terminal only: others get the last state. */
    public function draw(bool $isLast = false): void {
        if (!$this->isTerminal && !$isLast) {
            return;
        }
        $text = $this->lines > 0 ? "\e[{$this->lines}A" : '';
        foreach ($this->kinds as $kind => [$count]) {
            $bar = str_pad(str_repeat('#', (int) ($this->done[$kind] / $count * 40)), 40, '.');
            $text .= sprintf("  %-9s [%s] %3d of %3d\n", $kind, $bar, $this->done[$kind], $count);
        }
        $this->lines = $this->isTerminal ? count($this->kinds) : 0;
        echo $text;
    }

    public function finish(): self {
        $this->seconds = microtime(true) - $this->began;
        $this->draw(true);
        printf("  %.2f s\n\n", $this->seconds);
        return $this;
    }
}

/** @param list<Display> $runs on one scale, and the last one on its own too; a digit is how many were under way, `+` more than nine */
function print_timeline(array $runs): void {
    foreach ([...$runs, end($runs)] as $i => $run) {
        $scale = $i < count($runs) ? $runs[0]->seconds : $run->seconds;
        $isZoom = $i === count($runs);
        printf("%-22s 0 s%60s\n", $isZoom ? 'the same, enlarged' : $run->title, sprintf('%.2f s', $scale));
        foreach (array_keys($run->kinds) as $kind) {
            $row = array_fill(0, 64, 0);
            foreach ($run->items as [$of, $begin, $end]) {
                if ($of === $kind) {
                    for ($at = (int) ($begin / $scale * 63.9); $at <= min(63, (int) ($end / $scale * 63.9)); ++$at) {
                        ++$row[$at];
                    }
                }
            }
            $cells = array_map(fn (int $count) => $count === 0 ? '.' : ($count > 9 ? '+' : $count), $row);
            // One after another the busiest column says how many were in it, not at once.
            $cells = $run === $runs[0] ? array_map(fn ($cell) => $cell === '.' ? '.' : '1', $cells) : $cells;
            printf("  %-20s %s\n", $kind, implode('', $cells));
        }
        echo "\n";
    }
}
