<?php
/// Executes a program with the extension.

use Async\AsyncCancellation;
use Async\Channel;
use Async\Coroutine;
use Async\Scope;
use Async\TaskGroup;

use function Async\await;
use function Async\protect;
use function Async\spawn;
use function Async\suspend;
use function Async\timeout;

final class Real
{
    public array $log = [];
    public int $cycles = 0;  // of those made, how many destructors have not run
    private array $coroutines = [];
    private array $cancelled = [];
    private array $seen = [];  // a loop spawns each coroutine once, so that a number is one coroutine
    private array $channels;
    private array $kept = [];

    public function __construct(private Program $program)
    {
        $this->channels = array_map(fn (int $capacity) => new Channel($capacity), $program->channels);
    }

    public function run(): void
    {
        $scope = $this->newScope();
        $scope->spawn($this->coroutine(0, $this->program->main));
        $this->settle(300);
        foreach ($this->channels as $channel) {
            $channel->close();
        }
        $this->settle(300);
        foreach ($this->coroutines as $number => $coroutine) {
            if (!$coroutine->isCompleted()) {
                $this->say($number, 'still waits');
            }
        }
        gc_collect_cycles();
        $this->settle(20);
    }

    private function newScope(): Scope
    {
        $scope = new Scope();
        $scope->setExceptionHandler(function ($scope, $coroutine, Throwable $error): void { $this->say(0, 'unhandled ' . $error->getMessage()); });
        return $scope;
    }

    private function settle(int $turns): void
    {
        for (; $turns > 0; --$turns) {
            suspend();
        }
    }

    public function say(int $self, string $text): void
    {
        $this->log[] = "$self: $text";
    }

    private function coroutine(int $number, array $body): Closure
    {
        return function () use ($number, $body) {
            $this->say($number, 'begin');
            try {
                $this->body($number, $body);
            } finally {
                $this->say($number, 'end');
            }
            return "result $number";
        };
    }

    public function body(int $self, array $operations): void
    {
        foreach ($operations as $operation) {
            $this->{$operation[0]}($self, ...array_slice($operation, 1));
        }
    }

    private function log(int $self, int $mark): void
    {
        $this->say($self, "log $mark");
    }

    private function suspend(int $self): void
    {
        suspend();
    }

    private function spawn(int $self, int $number, array $body, bool $finally): void
    {
        if (isset($this->seen[$number])) {
            return;
        }
        $this->seen[$number] = true;
        $this->coroutines[$number] = spawn($this->coroutine($number, $body));
        if ($finally) {
            $this->coroutines[$number]->finally(fn (Coroutine $ended) => $this->say($number, 'finally'));
        }
    }

    private function await(int $self, int $number): void
    {
        if ($number <= $self || !isset($this->coroutines[$number])) {
            return;
        }
        try {
            $this->say($self, 'got ' . await($this->coroutines[$number]));
        } catch (Exception $error) {
            $this->say($self, 'caught ' . $error->getMessage());
        }
    }

    private function cancel(int $self, int $number, int $mark): void
    {
        if (isset($this->coroutines[$number]) && !isset($this->cancelled[$number])) {
            $this->cancelled[$number] = true;
            $this->coroutines[$number]->cancel(new AsyncCancellation("cancel $mark"));
        }
    }

    private function throw(int $self, int $mark): void
    {
        throw new Exception("error $mark");
    }

    private function send(int $self, int $channel, int $mark): void
    {
        try {
            $this->channels[$channel]->send("value $mark");
            $this->say($self, "sent $mark");
        } catch (Exception $error) {
            $this->say($self, 'send: ' . $error->getMessage());
        }
    }

    private function recv(int $self, int $channel): void
    {
        try {
            $this->say($self, 'received ' . $this->channels[$channel]->recv());
        } catch (Exception $error) {
            $this->say($self, 'recv: ' . $error->getMessage());
        }
    }

    private function try(int $self, int $mark, array $body, array $catch, array $finally): void
    {
        try {
            $this->body($self, $body);
        } catch (Exception $error) {
            $this->say($self, "try $mark: " . $error->getMessage());
            $this->body($self, $catch);
        } finally {
            $this->say($self, "finally $mark");
            $this->body($self, $finally);
        }
    }

    private function buffer(int $self, int $mark, array $body): void
    {
        ob_start();
        try {
            echo "<$mark";
            $this->body($self, $body);
            echo '>';
        } finally {
            $text = ob_get_clean();
            $this->say($self, "buffer $text");
            if (ob_get_level() > 0) {
                echo $text;
            }
        }
    }

    private function print(int $self, int $mark): void
    {
        echo " $mark";
    }

    private function generator(int $self, int $mark, array $body, array $finally, int $count, int $stop): void
    {
        $numbers = (function () use ($self, $mark, $body, $finally, $count) {
            try {
                for ($i = 0; $i < $count; ++$i) {
                    $this->body($self, $body);
                    yield $i;
                }
            } finally {
                $this->say($self, "generator $mark ends");
                $this->body($self, $finally);
            }
        })();
        foreach ($numbers as $number) {
            $this->say($self, "generator $mark: $number");
            if ($number === $stop) {
                break;
            }
        }
    }

    private function object(int $self, int $mark, array $body, array $destructor): void
    {
        $object = new RealObject($this, $self, $mark, $destructor);
        $this->body($self, $body);
    }

    private function sort(int $self, int $mark, array $numbers): void
    {
        usort($numbers, function (int $a, int $b): int {
            suspend();
            return $a <=> $b;
        });
        $this->say($self, "sort $mark: " . implode(' ', $numbers));
    }

    private function protect(int $self, array $body): void
    {
        protect(fn () => $this->body($self, $body));
    }

    private function cycle(int $self, int $mark): void
    {
        new RealCycle($this);
    }

    private function fiber(int $self, int $mark, array $before, array $between, array $after): void
    {
        $fiber = new Fiber(function () use ($self, $mark, $before, $after) {
            $this->body($self, $before);
            $this->say($self, "fiber $mark: " . Fiber::suspend('one'));
            $this->body($self, $after);
            return 'three';
        });
        $this->say($self, "fiber $mark: " . $fiber->start());
        $this->body($self, $between);
        $fiber->resume('two');
        $this->say($self, "fiber $mark: " . $fiber->getReturn());
    }

    private function scope(int $self, int $mark, array $children): void
    {
        $children = array_diff_key($children, $this->seen);
        $this->seen += $children;
        if ($children === []) {
            return;
        }
        $scope = $this->newScope();
        foreach ($children as $number => $body) {
            $this->coroutines[$number] = $scope->spawn($this->coroutine($number, $body));
        }
        $scope->awaitCompletion(timeout(60000));
        $this->say($self, "scope $mark");
    }

    private function group(int $self, int $mark, array $children): void
    {
        $children = array_diff_key($children, $this->seen);
        $this->seen += $children;
        if ($children === []) {
            return;
        }
        $this->kept[] = $group = new TaskGroup(scope: $this->newScope());  // when it goes, what its tasks have spawned is cancelled
        foreach ($children as $number => $body) {
            $group->spawn($this->coroutine($number, $body));
        }
        $group->close();
        $this->say($self, "group $mark: " . implode(', ', await($group->all())));
    }
}

final class RealObject
{
    public function __construct(private Real $real, private int $self, private int $mark, private array $destructor)
    {
    }

    public function __destruct()
    {
        $this->real->say($this->self, "object $this->mark");
        $this->real->body($this->self, $this->destructor);
    }
}

final class RealCycle
{
    private self $self;

    public function __construct(private Real $real)
    {
        $this->self = $this;
        ++$real->cycles;
    }

    public function __destruct()
    {
        suspend();
        --$this->real->cycles;
    }
}
