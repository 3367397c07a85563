--TEST--
Every class of the specification, with its members
--EXTENSIONS--
true_async
--FILE--
<?php
function name(string $name): string {
    $name = implode('|', array_map(fn($n) => str_starts_with($n, 'Async\\') ? substr($n, 6) : (preg_match('/^[A-Z]/', $n) ? "\\$n" : $n), explode('|', $name)));
    return $name === 'object|string' ? 'string|object' : $name;
}
function type(?ReflectionType $type): string {
    if ($type === null) {
        return '';
    }
    return $type instanceof ReflectionNamedType && $type->allowsNull() && $type->getName() !== 'mixed'
        ? '?' . name($type->getName()) : name((string) $type);
}
function parameter(ReflectionParameter $p): string {
    $text = type($p->getType()) . ($p->isVariadic() ? ' ...$' : ' $') . $p->getName();
    if ($p->isDefaultValueAvailable()) {
        $text .= ' = ' . ($p->isDefaultValueConstant() ? $p->getDefaultValueConstantName() : str_replace(['NULL', "array (\n)"], ['null', '[]'], var_export($p->getDefaultValue(), true)));
    }
    return $text;
}
function show(string $name): void {
    $class = new ReflectionClass("Async\\$name");
    $parent = $class->getParentClass();
    $above = $parent ? $parent->getInterfaceNames() : ['UnitEnum', 'BackedEnum'];
    foreach ($class->getInterfaces() as $interface) {
        $above = [...$above, ...$interface->getInterfaceNames()];
    }
    $interfaces = array_map('name', array_diff($class->getInterfaceNames(), $above));
    $own = fn($member) => $member->getDeclaringClass()->getName() === $class->getName();
    if ($class->isEnum()) {
        $enum = new ReflectionEnum($class->getName());
        echo 'enum ', $name, $enum->isBacked() ? ': ' . $enum->getBackingType() : '', "\n";
        foreach ($enum->getCases() as $case) {
            echo '  case ', $case->getName(), $enum->isBacked() ? ' = ' . var_export($case->getBackingValue(), true) : '', "\n";
        }
        return;
    }
    echo $class->isFinal() ? 'final ' : '', $class->isReadOnly() ? 'readonly ' : '', $class->isInterface() ? 'interface ' : 'class ', $name;
    echo $parent ? ' extends ' . name($parent->getName()) : '';
    echo $interfaces ? ($class->isInterface() ? ' extends ' : ' implements ') . implode(', ', $interfaces) : '', "\n";
    foreach (array_filter($class->getProperties(), $own) as $p) {
        echo '  ', $p->isPrivate() ? 'private ' : 'public ', $p->isReadOnly() && !$class->isReadOnly() ? 'readonly ' : '', type($p->getType()), ' $', $p->getName();
        echo $p->hasDefaultValue() && $p->isPrivate() && $p->getDefaultValue() !== [] ? ' = ' . strtolower(var_export($p->getDefaultValue(), true)) : '', "\n";
    }
    foreach (array_filter($class->getMethods(), $own) as $m) {
        echo '  ', $m->isPrivate() ? 'private ' : '', $m->isStatic() ? 'static ' : '', $m->getName(), '(', implode(', ', array_map('parameter', $m->getParameters())), ')';
        echo $m->hasReturnType() ? ': ' . type($m->getReturnType()) : '', "\n";
    }
}
foreach (explode(' ', 'Awaitable Completable Timeout CpuSnapshot Signal CircuitBreakerState CircuitBreaker CircuitBreakerStrategy Coroutine ' .
    'ScopeProvider SpawnStrategy Scope ContextException Context FutureState Future ChannelCloseReason ChannelException Channel TaskGroup TaskSet ' .
    'PoolException Pool RemoteException ThreadTransferException Thread ThreadChannelException ThreadChannel ThreadPool ThreadPoolException ' .
    'FileSystemEvent FileSystemWatcher AsyncCancellation OperationCanceledException AsyncException InputOutputException DnsException ' .
    'TimeoutException PollException DeadlockError ServiceUnavailableException CompositeException') as $name) {
    show($name);
}
?>
--EXPECT--
interface Awaitable
interface Completable extends Awaitable
  cancel(?AsyncCancellation $cancellation = null): void
  isCompleted(): bool
  isCancelled(): bool
final class Timeout implements Completable
  private __construct()
  cancel(?AsyncCancellation $cancellation = null): void
  isCompleted(): bool
  isCancelled(): bool
final class CpuSnapshot
  public readonly int $wallNs
  public readonly int $processUserNs
  public readonly int $processSystemNs
  public readonly int $systemIdleNs
  public readonly int $systemBusyNs
  public readonly int $cpuCount
  private __construct()
  static now(): CpuSnapshot
enum Signal: int
  case SIGHUP = 1
  case SIGINT = 2
  case SIGQUIT = 3
  case SIGILL = 4
  case SIGABRT = 6
  case SIGFPE = 8
  case SIGKILL = 9
  case SIGUSR1 = 10
  case SIGSEGV = 11
  case SIGUSR2 = 12
  case SIGTERM = 15
  case SIGBREAK = 21
  case SIGABRT2 = 22
  case SIGWINCH = 28
enum CircuitBreakerState
  case ACTIVE
  case INACTIVE
  case RECOVERING
interface CircuitBreaker
  getState(): CircuitBreakerState
  activate(): void
  deactivate(): void
  recover(): void
interface CircuitBreakerStrategy
  reportSuccess(mixed $source): void
  reportFailure(mixed $source, \Throwable $error): void
  shouldRecover(): bool
final class Coroutine implements Completable
  getId(): int
  asHiPriority(): Coroutine
  getContext(): Context
  getResult(): mixed
  getException(): mixed
  getTrace(int $options = DEBUG_BACKTRACE_PROVIDE_OBJECT, int $limit = 0): ?array
  getSpawnFileAndLine(): array
  getSpawnLocation(): string
  getSuspendFileAndLine(): array
  getSuspendLocation(): string
  isStarted(): bool
  isQueued(): bool
  isRunning(): bool
  isSuspended(): bool
  isCancelled(): bool
  isCancellationRequested(): bool
  isCompleted(): bool
  getAwaitingInfo(): array
  cancel(?AsyncCancellation $cancellation = null): void
  finally(\Closure $callback): void
interface ScopeProvider
  provideScope(): ?Scope
interface SpawnStrategy extends ScopeProvider
  beforeCoroutineEnqueue(Coroutine $coroutine, Scope $scope): array
  afterCoroutineEnqueue(Coroutine $coroutine, Scope $scope): void
final class Scope implements ScopeProvider
  static inherit(?Scope $parentScope = null): Scope
  provideScope(): Scope
  __construct()
  asNotSafely(): Scope
  allowZombies(): Scope
  spawn(\Closure $callable, mixed ...$params): Coroutine
  cancel(?AsyncCancellation $cancellationError = null): void
  awaitCompletion(Awaitable $cancellation): void
  awaitAfterCancellation(?callable $errorHandler = null, ?Awaitable $cancellation = null): void
  isFinished(): bool
  isClosed(): bool
  isCancelled(): bool
  setExceptionHandler(callable $exceptionHandler): void
  setChildScopeExceptionHandler(callable $exceptionHandler): void
  finally(\Closure $callback): void
  dispose(): void
  disposeSafely(): void
  disposeAfterTimeout(int $timeout): void
  getChildScopes(): array
class ContextException extends AsyncException
final class Context
  find(string|object $key): mixed
  get(string|object $key): mixed
  has(string|object $key): bool
  findLocal(string|object $key): mixed
  getLocal(string|object $key): mixed
  hasLocal(string|object $key): bool
  set(string|object $key, mixed $value, bool $replace = false): Context
  unset(string|object $key): Context
final class FutureState
  __construct()
  complete(mixed $result): void
  error(\Throwable $throwable): void
  isCompleted(): bool
  ignore(): void
  getAwaitingInfo(): array
  getCreatedFileAndLine(): array
  getCreatedLocation(): string
  getCompletedFileAndLine(): array
  getCompletedLocation(): string
final class Future implements Completable
  static completed(mixed $value = null): Future
  static failed(\Throwable $throwable): Future
  __construct(FutureState $state)
  isCompleted(): bool
  isCancelled(): bool
  cancel(?AsyncCancellation $cancellation = null): void
  ignore(): Future
  map(callable $map): Future
  catch(callable $catch): Future
  finally(callable $finally): Future
  await(?Completable $cancellation = null): mixed
  getAwaitingInfo(): array
  getCreatedFileAndLine(): array
  getCreatedLocation(): string
  getCompletedFileAndLine(): array
  getCompletedLocation(): string
enum ChannelCloseReason: string
  case EXPLICIT = 'explicit'
  case DISPOSED = 'disposed'
  case NO_PRODUCERS = 'no producers timeout'
  case NO_CONSUMERS = 'no consumers timeout'
  case DEADLOCK = 'deadlock'
  case SCOPE_DISPOSED = 'scope disposed'
class ChannelException extends AsyncException
  public ChannelCloseReason $reason
final class Channel implements Awaitable, \IteratorAggregate, \Countable
  __construct(int $capacity = 0, int $noProducerTimeout = 0, int $noConsumerTimeout = 0, bool $hardTimeouts = false)
  send(mixed $value, ?Completable $cancellationToken = null): void
  sendAsync(mixed $value): bool
  recv(?Completable $cancellationToken = null): mixed
  recvAsync(): Future
  close(): void
  isClosed(): bool
  capacity(): int
  count(): int
  isEmpty(): bool
  isFull(): bool
  getIterator(): \Iterator
final class TaskGroup implements Awaitable, \Countable, \IteratorAggregate
  __construct(?int $concurrency = null, ?int $queueLimit = null, ?Scope $scope = null)
  spawn(callable $task, mixed ...$args): void
  spawnWithKey(string|int $key, callable $task, mixed ...$args): void
  all(bool $ignoreErrors = false): Future
  race(): Future
  any(): Future
  getResults(): array
  getErrors(): array
  suppressErrors(): void
  cancel(?AsyncCancellation $cancellation = null): void
  close(): void
  dispose(): void
  isFinished(): bool
  isClosed(): bool
  count(): int
  awaitCompletion(): void
  finally(\Closure $callback): void
  getIterator(): \Iterator
final class TaskSet implements Awaitable, \Countable, \IteratorAggregate
  __construct(?int $concurrency = null, ?int $queueLimit = null, ?Scope $scope = null)
  spawn(callable $task, mixed ...$args): void
  spawnWithKey(string|int $key, callable $task, mixed ...$args): void
  joinNext(): Future
  joinAny(): Future
  joinAll(bool $ignoreErrors = false): Future
  cancel(?AsyncCancellation $cancellation = null): void
  close(): void
  dispose(): void
  isFinished(): bool
  isClosed(): bool
  count(): int
  awaitCompletion(): void
  finally(\Closure $callback): void
  getIterator(): \Iterator
class PoolException extends AsyncException
final class Pool implements \Countable, CircuitBreaker
  __construct(callable $factory, ?callable $destructor = null, ?callable $healthcheck = null, ?callable $beforeAcquire = null, ?callable $beforeRelease = null, int $min = 0, int $max = 10, int $healthcheckInterval = 0)
  acquire(int $timeout = 0): mixed
  tryAcquire(): mixed
  release(mixed $resource): void
  close(): void
  isClosed(): bool
  count(): int
  idleCount(): int
  activeCount(): int
  setCircuitBreakerStrategy(?CircuitBreakerStrategy $strategy): void
  getState(): CircuitBreakerState
  activate(): void
  deactivate(): void
  recover(): void
class RemoteException extends AsyncException
  private ?\Throwable $remoteException = null
  private string $remoteClass = ''
  getRemoteException(): ?\Throwable
  getRemoteClass(): string
class ThreadTransferException extends AsyncException
final class Thread implements Completable
  private __construct()
  isRunning(): bool
  isCompleted(): bool
  isCancelled(): bool
  getResult(): mixed
  getException(): mixed
  cancel(?AsyncCancellation $cancellation = null): void
  finally(\Closure $callback): void
class ThreadChannelException extends AsyncException
final class ThreadChannel implements Awaitable, \Countable
  __construct(int $capacity = 16)
  send(mixed $value, ?Completable $cancellationToken = null): void
  recv(?Completable $cancellationToken = null): mixed
  close(): void
  isClosed(): bool
  capacity(): int
  count(): int
  isEmpty(): bool
  isFull(): bool
final class ThreadPool
  __construct(int $workers = 0, int $queueSize = 0, ?\Closure $bootloader = null, bool $coroutine = false, int $concurrency = 0)
  submit(callable $task, mixed ...$args): Future
  map(array $items, callable $task): array
  close(): void
  cancel(): void
  isClosed(): bool
  getPendingCount(): int
  getRunningCount(): int
  getCompletedCount(): int
  getWorkerCount(): int
  reload(): void
class ThreadPoolException extends \Exception
final readonly class FileSystemEvent
  public string $path
  public ?string $filename
  public bool $renamed
  public bool $changed
final class FileSystemWatcher implements Awaitable, \IteratorAggregate
  __construct(string $path, bool $recursive = false, bool $coalesce = true, int $debounceMs = 0, int $maxHoldMs = 0, array $extensions = [])
  close(): void
  isClosed(): bool
  getIterator(): \Iterator
class AsyncCancellation extends \Cancellation
class OperationCanceledException extends AsyncCancellation
class AsyncException extends \Exception
class InputOutputException extends \Exception
class DnsException extends \Exception
class TimeoutException extends \Exception
class PollException extends \Exception
class DeadlockError extends \Error
class ServiceUnavailableException extends AsyncException
final class CompositeException extends \Exception
  private array $exceptions
  addException(\Throwable $exception): void
  getExceptions(): array
