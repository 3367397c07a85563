<?php
/// Small random programs: lists of operations, which real.php executes with the extension and model.php in plain PHP.
///
/// An operation is an array, its name first. Coroutines have numbers; each awaits only those with a greater number than its own, so that
/// no circle of waiting can arise.

final class Program
{
    public array $main;
    public array $channels = [];  // capacities
    private int $coroutines = 0;
    private int $marks = 0;
    private int $budget;
    private bool $cancels;
    private int $groups = 0;  // around what is being made: an error that nobody catches cancels the whole group

    public function __construct(public readonly int $seed)
    {
        mt_srand($seed);
        $this->budget = 10 + $this->pick($this->pick(10) === 0 ? 300 : 50);
        // Who was cancelled while a fiber, a scope or a group worked for it leaves it to others, at a time that nothing promises.
        $this->cancels = $this->pick(2) === 0;
        for ($count = $this->pick(3); $count > 0; --$count) {
            $this->channels[] = 1 + $this->pick(2);
        }
        $this->main = $this->body(0, 0, true);
    }

    private function pick(int $count): int
    {
        return mt_rand(0, $count - 1);
    }

    private function mark(): int
    {
        return ++$this->marks;
    }

    /// What coroutine `$self` does at `$depth`. `$may`: may it throw here?
    private function body(int $self, int $depth, bool $may, bool $prints = false): array
    {
        $operations = [];
        for ($count = 1 + $this->pick($depth === 0 ? 20 : 5); $count > 0 && $this->budget-- > 0; --$count) {
            $operations[] = $this->operation($self, $depth + 1, $may, $prints);
        }
        return $operations;
    }

    private function operation(int $self, int $depth, bool $may, bool $prints): array
    {
        $simple = $depth > 5;
        switch ($this->pick($simple ? 11 : 26)) {
            default:
                return ['log', $this->mark()];
            case 2:
            case 3:
            case 4:
                return ['suspend'];
            case 5:
            case 6:
                return ['await', 1 + $this->pick(max(1, $this->coroutines))];
            case 7:
                return $this->cancels ? ['cancel', 1 + $this->pick(max(1, $this->coroutines)), $this->mark()] : ['suspend'];
            case 8:
                return $may && $this->pick(2) === 0 ? ['throw', $this->mark()] : ['log', $this->mark()];
            case 9:
                return $this->channels === [] ? ['suspend'] : ['send', $this->pick(count($this->channels)), $this->mark()];
            case 10:
                return $this->channels === [] ? ['suspend'] : ['recv', $this->pick(count($this->channels))];
            case 11:
            case 12:
            case 13:
            case 14:
                $number = ++$this->coroutines;
                return ['spawn', $number, $this->body($number, $depth, $this->groups === 0), $this->pick(3) === 0];
            case 15:
            case 16:
                return ['try', $this->mark(), $this->body($self, $depth, true, $prints), $this->body($self, $depth, false, $prints),
                    $this->body($self, $depth, false, $prints)];
            case 17:
                return ['buffer', $this->mark(), $this->body($self, $depth, $may, true)];
            case 18:
                return $prints ? ['print', $this->mark()] : ['suspend'];
            case 19:
                return ['generator', $this->mark(), $this->body($self, $depth, $may, $prints), $this->body($self, $depth, false, $prints),
                    1 + $this->pick(3), $this->pick(3)];
            case 20:
                return ['object', $this->mark(), $this->body($self, $depth, $may, $prints), $this->body($self, $depth, false, $prints)];
            case 21:
                return ['sort', $this->mark(), $this->shuffled()];
            case 22:
                return ['protect', $this->body($self, $depth, false, $prints)];
            case 23:
                return $this->cancels
                    ? ['cycle', $this->mark()]
                    : ['fiber', $this->mark(), $this->body($self, $depth, false), $this->body($self, $depth, false, $prints),
                        $this->body($self, $depth, false)];
            case 24:
            case 25:
                if ($this->cancels) {
                    return ['cycle', $this->mark()];
                }
                $isGroup = $this->pick(2) === 0;
                $this->groups += (int) $isGroup;
                $children = [];
                for ($count = 1 + $this->pick(3); $count > 0; --$count) {
                    $number = ++$this->coroutines;
                    $children[$number] = $this->body($number, $depth, false);
                }
                $this->groups -= (int) $isGroup;
                return [$isGroup ? 'group' : 'scope', $this->mark(), $children];
        }
    }

    private function shuffled(): array
    {
        $numbers = range(1, 3 + $this->pick(4));
        for ($i = count($numbers) - 1; $i > 0; --$i) {
            $j = $this->pick($i + 1);
            [$numbers[$i], $numbers[$j]] = [$numbers[$j], $numbers[$i]];
        }
        return $numbers;
    }
}
