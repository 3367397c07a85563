--TEST--
The signatures of all functions, by reflection
--EXTENSIONS--
true_async
--FILE--
<?php
function type(?ReflectionType $type): string {
    if ($type === null) {
        return '?';
    }
    $name = function (string $one): string {
        $bare = ltrim($one, '?');
        $null = str_starts_with($one, '?') ? '?' : '';
        if (str_starts_with($bare, 'Async\\')) {
            return $null . substr($bare, 6);
        }
        return $null . (class_exists($bare) || interface_exists($bare) ? '\\' : '') . $bare;
    };
    $parts = explode('|', (string) $type);
    if (in_array('Traversable', $parts) && in_array('array', $parts)) {
        return 'iterable';  // as PHP 8.2 shows it
    }
    sort($parts);
    return implode('|', array_map($name, $parts));
}
function value(mixed $value): string {
    return is_array($value) ? '[]' : strtolower(var_export($value, true));
}
function signature(ReflectionFunctionAbstract $f): string {
    $parameters = [];
    foreach ($f->getParameters() as $p) {
        $text = type($p->getType()) . ' ' . ($p->isVariadic() ? '...' : '') . '$' . $p->getName();
        if ($p->isDefaultValueAvailable()) {
            $text .= ' = ' . ($p->isDefaultValueConstant() ? $p->getDefaultValueConstantName() : value($p->getDefaultValue()));
        }
        $parameters[] = $text;
    }
    return $f->getShortName() . '(' . implode(', ', $parameters) . '): ' . type($f->getReturnType());
}
foreach (['spawn', 'spawn_with', 'suspend', 'protect', 'await', 'await_any_or_fail', 'await_first_success', 'await_all_or_fail', 'await_all', 'await_any_of_or_fail', 'await_any_of', 'delay', 'available_parallelism', 'runtime_stats', 'cpu_usage', 'loadavg', 'timeout', 'current_context', 'coroutine_context', 'current_coroutine', 'root_context', 'request_context', 'get_coroutines', 'iterate', 'spawn_thread', 'graceful_shutdown', 'signal'] as $name) {
    echo signature(new ReflectionFunction("Async\\$name")), "\n";
}
?>
--EXPECT--
spawn(callable $task, mixed ...$args): Coroutine
spawn_with(ScopeProvider $provider, callable $task, mixed ...$args): Coroutine
suspend(): void
protect(\Closure $closure): mixed
await(Completable $awaitable, ?Completable $cancellation = null): mixed
await_any_or_fail(iterable $triggers, ?Awaitable $cancellation = null): mixed
await_first_success(iterable $triggers, ?Awaitable $cancellation = null): mixed
await_all_or_fail(iterable $triggers, ?Awaitable $cancellation = null, bool $preserveKeyOrder = true): array
await_all(iterable $triggers, ?Awaitable $cancellation = null, bool $preserveKeyOrder = true, bool $fillNull = false): array
await_any_of_or_fail(int $count, iterable $triggers, ?Awaitable $cancellation = null, bool $preserveKeyOrder = true): array
await_any_of(int $count, iterable $triggers, ?Awaitable $cancellation = null, bool $preserveKeyOrder = true, bool $fillNull = false): array
delay(int $ms): void
available_parallelism(): int
runtime_stats(): array
cpu_usage(): array
loadavg(): ?array
timeout(int $ms): Awaitable
current_context(): Context
coroutine_context(): Context
current_coroutine(): Coroutine
root_context(): Context
request_context(): ?Context
get_coroutines(): array
iterate(iterable $iterable, callable $callback, int $concurrency = 0, bool $cancelPending = true): void
spawn_thread(\Closure $task, bool $inherit = true, ?\Closure $bootloader = null): Thread
graceful_shutdown(?AsyncCancellation $cancellationError = null): void
signal(Signal $signal, ?Completable $cancellation = null): Future
