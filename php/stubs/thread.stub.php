<?php

/** @generate-class-entries */

namespace Async;

/** @strict-properties */
class RemoteException extends AsyncException
{
    private ?\Throwable $remoteException = null;
    private string $remoteClass = '';

    public function getRemoteException(): ?\Throwable {}

    public function getRemoteClass(): string {}
}

class ThreadTransferException extends AsyncException
{
}

/**
 * @strict-properties
 * @not-serializable
 */
final class Thread implements Completable
{
    private function __construct() {}

    public function isRunning(): bool {}

    public function isCompleted(): bool {}

    public function isCancelled(): bool {}

    public function getResult(): mixed {}

    public function getException(): mixed {}

    public function cancel(?AsyncCancellation $cancellation = null): void {}

    public function finally(\Closure $callback): void {}
}

class ThreadChannelException extends AsyncException
{
}

/**
 * @strict-properties
 * @not-serializable
 */
final class ThreadChannel implements Awaitable, \Countable
{
    public function __construct(int $capacity = 16) {}

    public function send(mixed $value, ?Completable $cancellationToken = null): void {}

    public function recv(?Completable $cancellationToken = null): mixed {}

    public function close(): void {}

    public function isClosed(): bool {}

    public function capacity(): int {}

    public function count(): int {}

    public function isEmpty(): bool {}

    public function isFull(): bool {}
}

/**
 * @strict-properties
 * @not-serializable
 */
final class ThreadPool
{
    public function __construct(int $workers = 0, int $queueSize = 0, ?\Closure $bootloader = null, bool $coroutine = false, int $concurrency = 0) {}

    public function submit(callable $task, mixed ...$args): Future {}

    public function map(array $items, callable $task): array {}

    public function close(): void {}

    public function cancel(): void {}

    public function isClosed(): bool {}

    public function getPendingCount(): int {}

    public function getRunningCount(): int {}

    public function getCompletedCount(): int {}

    public function getWorkerCount(): int {}

    public function reload(): void {}
}

class ThreadPoolException extends \Exception
{
}
