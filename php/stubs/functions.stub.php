<?php

/** @generate-class-entries */

namespace Async {
    function spawn(callable $task, mixed ...$args): Coroutine {}
    function spawn_with(ScopeProvider $provider, callable $task, mixed ...$args): Coroutine {}
    function suspend(): void {}
    function protect(\Closure $closure): mixed {}
    function await(Completable $awaitable, ?Completable $cancellation = null): mixed {}
    function await_any_or_fail(iterable $triggers, ?Awaitable $cancellation = null): mixed {}
    function await_first_success(iterable $triggers, ?Awaitable $cancellation = null): mixed {}
    function await_all_or_fail(iterable $triggers, ?Awaitable $cancellation = null, bool $preserveKeyOrder = true): array {}
    function await_all(iterable $triggers, ?Awaitable $cancellation = null, bool $preserveKeyOrder = true, bool $fillNull = false): array {}
    function await_any_of_or_fail(int $count, iterable $triggers, ?Awaitable $cancellation = null, bool $preserveKeyOrder = true): array {}
    function await_any_of(int $count, iterable $triggers, ?Awaitable $cancellation = null, bool $preserveKeyOrder = true, bool $fillNull = false): array {}
    function delay(int $ms): void {}
    function available_parallelism(): int {}
    function runtime_stats(): array {}
    function cpu_usage(): array {}
    function loadavg(): ?array {}
    function timeout(int $ms): Awaitable {}
    function current_context(): Context {}
    function coroutine_context(): Context {}
    function current_coroutine(): Coroutine {}
    function root_context(): Context {}
    function request_context(): ?Context {}
    function get_coroutines(): array {}
    function iterate(iterable $iterable, callable $callback, int $concurrency = 0, bool $cancelPending = true): void {}
    function spawn_thread(\Closure $task, bool $inherit = true, ?\Closure $bootloader = null): Thread {}
    function graceful_shutdown(?AsyncCancellation $cancellationError = null): void {}
    function signal(Signal $signal, ?Completable $cancellation = null): Future {}
}
