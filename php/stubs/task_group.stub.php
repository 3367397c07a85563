<?php

/** @generate-class-entries */

namespace Async;

/**
 * @strict-properties
 * @not-serializable
 */
final class TaskGroup implements Awaitable, \Countable, \IteratorAggregate
{
    public function __construct(?int $concurrency = null, ?int $queueLimit = null, ?Scope $scope = null) {}

    public function spawn(callable $task, mixed ...$args): void {}

    public function spawnWithKey(string|int $key, callable $task, mixed ...$args): void {}

    public function all(bool $ignoreErrors = false): Future {}

    public function race(): Future {}

    public function any(): Future {}

    public function getResults(): array {}

    public function getErrors(): array {}

    public function suppressErrors(): void {}

    public function cancel(?AsyncCancellation $cancellation = null): void {}

    public function close(): void {}

    public function dispose(): void {}

    public function isFinished(): bool {}

    public function isClosed(): bool {}

    public function count(): int {}

    public function awaitCompletion(): void {}

    public function finally(\Closure $callback): void {}

    public function getIterator(): \Iterator {}
}

/**
 * @strict-properties
 * @not-serializable
 */
final class TaskSet implements Awaitable, \Countable, \IteratorAggregate
{
    public function __construct(?int $concurrency = null, ?int $queueLimit = null, ?Scope $scope = null) {}

    public function spawn(callable $task, mixed ...$args): void {}

    public function spawnWithKey(string|int $key, callable $task, mixed ...$args): void {}

    public function joinNext(): Future {}

    public function joinAny(): Future {}

    public function joinAll(bool $ignoreErrors = false): Future {}

    public function cancel(?AsyncCancellation $cancellation = null): void {}

    public function close(): void {}

    public function dispose(): void {}

    public function isFinished(): bool {}

    public function isClosed(): bool {}

    public function count(): int {}

    public function awaitCompletion(): void {}

    public function finally(\Closure $callback): void {}

    public function getIterator(): \Iterator {}
}
