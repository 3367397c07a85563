<?php
/// What a program should do, in plain PHP: coroutines are generators, the ready queue is an array. The rules are those of the specification
/// (ready order, cancellation, channels); nothing here knows the extension.

final class ModelCancellation extends Error
{
}

final class ModelCoroutine
{
    public ?Generator $generator = null;
    public bool $isStarted = false;
    public bool $isDone = false;
    public bool $isQueued = false;
    public ?Throwable $cancel = null;     // asked for, not yet thrown
    public int $protects = 0;
    public array $awaiters = [];
    public ?ModelWait $wait = null;
    public ?string $finally = null;
    public ?ModelScope $group = null;  // as one of its tasks
    public array $buffers = [];  // texts of those that are open
    public mixed $result = null;
    public ?Throwable $error = null;

    public function __construct(public readonly int $number, public ?ModelScope $scope, public readonly Closure $body)
    {
    }
}

/// The coroutines of a scope, or the tasks of a group.
final class ModelScope
{
    public int $alive = 0;
    public array $waiters = [];
}

/// Something a coroutine is parked on. `forget`: it leaves before its turn.
final class ModelWait
{
    public function __construct(public readonly ?Closure $forget = null)
    {
    }
}

final class ModelChannel
{
    public array $values = [];
    public int $reserved = 0;    // so many of the oldest belong to receivers that were woken
    public int $promised = 0;    // so many slots belong to senders that were woken
    public array $receivers = [];
    public array $senders = [];
    public array $woken = [];
    public bool $isClosed = false;

    public function __construct(public readonly int $capacity)
    {
    }
}

final class Model
{
    public array $log = [];
    private array $queue = [];
    private array $coroutines = [];
    private array $cancelled = [];
    private array $seen = [];
    private array $channels;
    private ModelCoroutine $running;

    public function __construct(private Program $program)
    {
        $this->channels = array_map(fn (int $capacity) => new ModelChannel($capacity), $program->channels);
    }

    public function run(): void
    {
        $root = new ModelScope();
        $main = new ModelCoroutine(-1, new ModelScope(), function () use ($root) {
            $this->enqueue($this->make(0, $root, $this->program->main));
            yield from $this->settle(300);
            foreach ($this->channels as $channel) {
                $this->close($channel);
            }
            yield from $this->settle(300);
            foreach ($this->coroutines as $number => $coroutine) {
                if (!$coroutine->isDone) {
                    $this->say($number, 'still waits');
                }
            }
        });
        $this->enqueue($main);
        while ($this->queue !== [] && !$main->isDone) {
            $this->turn(array_shift($this->queue));
        }
    }

    // --- the scheduler

    private function enqueue(ModelCoroutine $coroutine): void
    {
        $coroutine->isQueued = true;
        $this->queue[] = $coroutine;
    }

    /// One that was cancelled while it waited is in the queue already.
    private function enqueueOnce(ModelCoroutine $coroutine): void
    {
        if (!$coroutine->isQueued) {
            $this->enqueue($coroutine);
        }
    }

    private function turn(ModelCoroutine $coroutine): void
    {
        $coroutine->isQueued = false;
        $this->running = $coroutine;
        try {
            if ($coroutine->generator === null) {
                if ($coroutine->cancel !== null) {
                    throw $coroutine->cancel;
                }
                $coroutine->isStarted = true;
                $coroutine->generator = ($coroutine->body)();
                $coroutine->generator->current();
            } elseif ($coroutine->cancel !== null && $coroutine->protects === 0) {
                $cancel = $coroutine->cancel;
                $coroutine->cancel = null;
                $coroutine->generator->throw($cancel);
            } else {
                $coroutine->generator->next();
            }
            if ($coroutine->generator->valid()) {
                return;
            }
            $coroutine->result = $coroutine->generator->getReturn();
            $coroutine->error = $coroutine->cancel;  // of itself, and it has not stopped since
        } catch (Throwable $error) {
            $coroutine->error = $error;
        }
        $this->finish($coroutine);
    }

    private function finish(ModelCoroutine $coroutine): void
    {
        $coroutine->isDone = true;
        foreach ($coroutine->awaiters as $awaiter) {
            $this->enqueue($awaiter);
        }
        if ($coroutine->awaiters === [] && $coroutine->error instanceof Exception) {
            $this->say(0, 'unhandled ' . $coroutine->error->getMessage());
        }
        if ($coroutine->finally !== null) {  // at the head of the queue, and it does not suspend
            $this->say($coroutine->number, $coroutine->finally);
        }
        foreach ([$coroutine->scope, $coroutine->group] as $scope) {
            if ($scope !== null && --$scope->alive === 0) {
                array_map($this->enqueue(...), $scope->waiters);
            }
        }
        $coroutine->generator = null;
    }

    private function suspend(int $self): Generator
    {
        $this->leave();
        $this->enqueue($this->running);
        yield;
    }

    /// Until somebody puts it into the queue. Who may have been cancelled calls `leave` before.
    private function park(?Closure $forget = null): Generator
    {
        $self = $this->running;
        $self->wait = new ModelWait($forget);
        try {
            yield;
        } finally {
            $self->wait = null;
        }
    }

    /// Before a wait: one that has cancelled itself does not get there.
    private function leave(): void
    {
        $self = $this->running;
        if ($self->cancel !== null && $self->protects === 0) {
            $cancel = $self->cancel;
            $self->cancel = null;
            throw $cancel;
        }
    }

    private function settle(int $turns): Generator
    {
        for (; $turns > 0; --$turns) {
            yield from $this->suspend(-1);
        }
    }

    private function make(int $number, ModelScope $scope, array $body): ModelCoroutine
    {
        ++$scope->alive;
        return new ModelCoroutine($number, $scope, function () use ($number, $body) {
            $this->say($number, 'begin');
            try {
                yield from $this->body($number, $body);
            } finally {
                $this->say($number, 'end');
            }
            return "result $number";
        });
    }

    // --- the operations

    private function say(int $self, string $text): void
    {
        $this->log[] = "$self: $text";
    }

    private function body(int $self, array $operations): Generator
    {
        foreach ($operations as $operation) {
            yield from $this->{$operation[0]}($self, ...array_slice($operation, 1));
        }
    }

    private function log(int $self, int $mark): array
    {
        $this->say($self, "log $mark");
        return [];
    }

    private function spawn(int $self, int $number, array $body, bool $finally): array
    {
        if (isset($this->seen[$number])) {
            return [];
        }
        $this->seen[$number] = true;
        $this->coroutines[$number] = $this->make($number, $this->running->scope, $body);
        $this->coroutines[$number]->finally = $finally ? 'finally' : null;
        $this->enqueue($this->coroutines[$number]);
        return [];
    }

    private function await(int $self, int $number): Generator
    {
        if ($number <= $self || !isset($this->coroutines[$number])) {
            return;
        }
        try {
            $target = $this->coroutines[$number];
            $this->leave();
            if (!$target->isDone) {
                $target->awaiters[] = $me = $this->running;
                yield from $this->park(fn () => $this->remove($target->awaiters, $me));
            }
            if ($target->error !== null) {
                throw $target->error;
            }
            $this->say($self, "got $target->result");
        } catch (Exception $error) {
            $this->say($self, 'caught ' . $error->getMessage());
        }
    }

    private function cancel(int $self, int $number, int $mark): array
    {
        $target = $this->coroutines[$number] ?? null;
        if ($target === null || isset($this->cancelled[$number])) {
            return [];
        }
        $this->cancelled[$number] = true;
        if ($target->isDone) {
            return [];
        }
        $target->cancel = new ModelCancellation("cancel $mark");
        if ($target->wait !== null && !$target->isQueued && $target->protects === 0) {
            if ($target->wait->forget !== null) {
                ($target->wait->forget)();
            }
            $this->enqueue($target);
        }
        return [];
    }

    private function throw(int $self, int $mark): array
    {
        throw new Exception("error $mark");
    }

    private function try(int $self, int $mark, array $body, array $catch, array $finally): Generator
    {
        try {
            yield from $this->body($self, $body);
        } catch (Exception $error) {
            $this->say($self, "try $mark: " . $error->getMessage());
            yield from $this->body($self, $catch);
        } finally {
            $this->say($self, "finally $mark");
            yield from $this->body($self, $finally);
        }
    }

    private function buffer(int $self, int $mark, array $body): Generator
    {
        $this->running->buffers[] = '';
        try {
            $this->echo("<$mark");
            yield from $this->body($self, $body);
            $this->echo('>');
        } finally {
            $text = array_pop($this->running->buffers);
            $this->say($self, "buffer $text");
            $this->echo($text);
        }
    }

    private function echo(string $text): void
    {
        if ($this->running->buffers !== []) {
            $this->running->buffers[count($this->running->buffers) - 1] .= $text;
        }
    }

    private function print(int $self, int $mark): array
    {
        $this->echo(" $mark");
        return [];
    }

    private function generator(int $self, int $mark, array $body, array $finally, int $count, int $stop): Generator
    {
        try {
            for ($i = 0; $i < $count; ++$i) {
                yield from $this->body($self, $body);
                $this->say($self, "generator $mark: $i");
                if ($i === $stop) {
                    break;
                }
            }
        } finally {
            $this->say($self, "generator $mark ends");
            yield from $this->body($self, $finally);
        }
    }

    private function object(int $self, int $mark, array $body, array $destructor): Generator
    {
        try {
            yield from $this->body($self, $body);
        } finally {
            $this->say($self, "object $mark");
            yield from $this->body($self, $destructor);
        }
    }

    private function sort(int $self, int $mark, array $numbers): Generator
    {
        $comparisons = 0;
        usort($numbers, function (int $a, int $b) use (&$comparisons): int {
            ++$comparisons;
            return $a <=> $b;
        });
        while ($comparisons-- > 0) {
            yield from $this->suspend($self);
        }
        $this->say($self, "sort $mark: " . implode(' ', $numbers));
    }

    private function protect(int $self, array $body): Generator
    {
        $me = $this->running;
        ++$me->protects;
        try {
            yield from $this->body($self, $body);
        } finally {
            --$me->protects;
            $this->leave();
        }
    }

    private function cycle(int $self, int $mark): array
    {
        return [];
    }

    // --- what is made of coroutines

    private function fiber(int $self, int $mark, array $before, array $between, array $after): Generator
    {
        $driver = $this->running;
        $fiber = null;
        $fiber = new ModelCoroutine($self, $driver->scope, function () use ($self, $mark, $before, $after, &$driver) {
            yield from $this->body($self, $before);
            $this->enqueue($driver);
            yield from $this->park();
            $this->say($self, "fiber $mark: two");
            yield from $this->body($self, $after);
            $this->enqueue($driver);
        });
        ++$driver->scope->alive;
        $this->enqueue($fiber);
        yield from $this->park();
        $this->say($self, "fiber $mark: one");
        yield from $this->body($self, $between);
        $this->enqueue($fiber);
        yield from $this->park();
        $this->say($self, "fiber $mark: three");
    }

    private function scope(int $self, int $mark, array $children): Generator
    {
        $children = array_diff_key($children, $this->seen);
        $this->seen += $children;
        if ($children === []) {
            return;
        }
        $scope = new ModelScope();
        foreach ($children as $number => $body) {
            $this->coroutines[$number] = $this->make($number, $scope, $body);
            $this->enqueue($this->coroutines[$number]);
        }
        $scope->waiters[] = $this->running;
        yield from $this->park();
        $this->say($self, "scope $mark");
    }

    private function group(int $self, int $mark, array $children): Generator
    {
        $children = array_diff_key($children, $this->seen);
        $this->seen += $children;
        if ($children === []) {
            return;
        }
        $scope = new ModelScope();
        $tasks = new ModelScope();
        foreach ($children as $number => $body) {
            $task = $this->make($number, $scope, $body);
            $task->group = $tasks;
            ++$tasks->alive;
            $this->enqueue($task);
        }
        $tasks->waiters[] = $this->running;
        yield from $this->park();
        $this->say($self, "group $mark: " . implode(', ', array_map(fn (int $number) => "result $number", array_keys($children))));
    }

    // --- channels

    private function send(int $self, int $number, int $mark): Generator
    {
        $channel = $this->channels[$number];
        $me = $this->running;
        try {
            $this->refuseClosed($channel);
            if (count($channel->values) + $channel->promised >= $channel->capacity) {
                $this->leave();
                $channel->senders[] = $me;
                try {
                    yield from $this->park();
                } catch (ModelCancellation $error) {
                    $this->remove($channel->senders, $me);  // until now it was one of them
                    if ($this->take($channel->woken, $me)) {
                        --$channel->promised;
                        $this->offerSlot($channel);
                    }
                    throw $error;
                }
                if (!$this->take($channel->woken, $me)) {
                    $this->refuseClosed($channel);
                }
                --$channel->promised;
            }
            $channel->values[] = "value $mark";
            $this->offerValue($channel);
            $this->say($self, "sent $mark");
        } catch (Exception $error) {
            $this->say($self, 'send: ' . $error->getMessage());
        }
    }

    private function recv(int $self, int $number): Generator
    {
        $channel = $this->channels[$number];
        $me = $this->running;
        try {
            if (count($channel->values) > $channel->reserved) {
                [$value] = array_splice($channel->values, $channel->reserved, 1);
            } else {
                $this->refuseClosed($channel);
                $this->leave();
                $channel->receivers[] = $me;
                try {
                    yield from $this->park();
                } catch (ModelCancellation $error) {
                    $this->remove($channel->receivers, $me);
                    if ($this->take($channel->woken, $me)) {
                        --$channel->reserved;
                        $this->offerValue($channel);
                    }
                    throw $error;
                }
                if (!$this->take($channel->woken, $me)) {
                    $this->refuseClosed($channel);
                }
                --$channel->reserved;
                $value = array_shift($channel->values);
            }
            $this->offerSlot($channel);
            $this->say($self, "received $value");
        } catch (Exception $error) {
            $this->say($self, 'recv: ' . $error->getMessage());
        }
    }

    private function remove(array &$list, ModelCoroutine $coroutine): void
    {
        $list = array_values(array_filter($list, fn (ModelCoroutine $one) => $one !== $coroutine));
    }

    /// Whether it was there; it is not any more.
    private function take(array &$list, ModelCoroutine $coroutine): bool
    {
        $before = count($list);
        $this->remove($list, $coroutine);
        return count($list) < $before;
    }

    private function refuseClosed(ModelChannel $channel): void
    {
        if ($channel->isClosed) {
            throw new Exception('Channel is closed');
        }
    }

    private function offerValue(ModelChannel $channel): void
    {
        if ($channel->receivers !== [] && count($channel->values) > $channel->reserved) {
            ++$channel->reserved;
            $this->wake($channel, array_shift($channel->receivers));
        }
    }

    private function offerSlot(ModelChannel $channel): void
    {
        if ($channel->senders !== [] && count($channel->values) + $channel->promised < $channel->capacity) {
            ++$channel->promised;
            $this->wake($channel, array_shift($channel->senders));
        }
    }

    private function wake(ModelChannel $channel, ModelCoroutine $coroutine): void
    {
        $channel->woken[] = $coroutine;
        $this->enqueueOnce($coroutine);
    }

    private function close(ModelChannel $channel): void
    {
        $channel->isClosed = true;
        array_map($this->enqueueOnce(...), [...$channel->receivers, ...$channel->senders]);
        $channel->receivers = $channel->senders = [];
    }
}
