<?php

/** @generate-class-entries */

namespace Async;

final readonly class FileSystemEvent
{
    public string $path;
    public ?string $filename;
    public bool $renamed;
    public bool $changed;
}

/**
 * @strict-properties
 * @not-serializable
 */
final class FileSystemWatcher implements Awaitable, \IteratorAggregate
{
    public function __construct(string $path, bool $recursive = false, bool $coalesce = true, int $debounceMs = 0, int $maxHoldMs = 0, array $extensions = []) {}

    public function close(): void {}

    public function isClosed(): bool {}

    public function getIterator(): \Iterator {}
}
