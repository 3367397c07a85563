--TEST--
Objects whose constructor was never called: an Error, whatever is done with them
--EXTENSIONS--
true_async
soap
--FILE--
<?php
require __DIR__ . '/unmade.inc';

use function Async\{await, await_all, await_any_or_fail, delay, spawn, spawn_with, timeout};

function argument(ReflectionParameter $parameter): mixed
{
    $type = $parameter->getType();
    if ($type === null || $type->allowsNull()) {
        return null;
    }
    $types = $type instanceof ReflectionNamedType ? [$type] : $type->getTypes();
    return match (ltrim($types[0]->getName(), '?')) {
        'int' => 1,
        'float' => 1.0,
        'bool' => true,
        'string' => 'x',
        'array', 'iterable' => [],
        'callable', 'Closure' => fn() => 1,
        'object' => new stdClass(),
        'Throwable' => new Exception('given'),
        'Async\Awaitable', 'Async\Completable' => timeout(1000),
        'Async\FutureState' => new Async\FutureState(),
        'Async\Scope' => new Async\Scope(),
        'Async\AsyncCancellation' => new Async\AsyncCancellation(),
    };
}

function tell(callable $what): string
{
    try {
        $given = $what();
        return 'gives ' . get_debug_type($given);
    } catch (Throwable $e) {
        return get_class($e) . ': ' . $e->getMessage();
    }
}

foreach (get_declared_classes() as $class) {
    $reflection = new ReflectionClass($class);
    if (!str_starts_with($class, 'Async\\') || $reflection->isEnum() || $reflection->isSubclassOf(Throwable::class)
        || $class === 'Async\Coroutine') {
        continue;
    }
    $seen = [];
    foreach ($reflection->getMethods(ReflectionMethod::IS_PUBLIC) as $method) {
        if (!$method->isStatic() && !$method->isConstructor()) {
            $object = Unmade::of($class);
            $given = array_map('argument', array_filter($method->getParameters(), fn($p) => !$p->isOptional()));
            $seen[tell(fn() => $method->invokeArgs($object, $given))][] = $method->name;
        }
    }
    $others = [
        'var_dump' => function ($o) { ob_start(); var_dump($o); print_r($o); ob_end_clean(); },
        'clone' => fn($o) => clone $o,
        'serialize' => fn($o) => serialize($o),
        'json_encode' => fn($o) => json_encode($o),
        'foreach' => function ($o) { foreach ($o as $each) {} },
        'count' => fn($o) => count($o),
        '(array)' => fn($o) => (array) $o,
        '==' => fn($o) => $o == Unmade::of(get_class($o)),
        'await' => fn($o) => await($o),
        'token' => fn($o) => await(spawn(fn() => delay(1)), $o),
        'await_all' => fn($o) => await_all([$o]),
        'spawn_with' => fn($o) => spawn_with($o, fn() => 1),
        'new Future' => fn($o) => new Async\Future($o),
        'new TaskGroup' => fn($o) => new Async\TaskGroup(scope: $o),
        'Scope::inherit' => fn($o) => Async\Scope::inherit($o),
        'cycle' => function ($o) { $list = new ArrayObject([$o]); $list[] = $list; unset($o, $list); gc_collect_cycles(); delay(1); },
    ];
    foreach ($others as $name => $what) {
        $told = tell(fn() => $what(Unmade::of($class)));
        if (!str_starts_with($told, 'TypeError')) {
            $seen[$told][] = $name;
        }
    }
    echo substr($class, 6), "\n";
    foreach ($seen as $told => $names) {
        if (str_starts_with($told, 'gives ')) {
            continue;
        }
        echo "  $told: ", implode(' ', $names), "\n";
    }
}
echo "end\n";
?>
--EXPECT--
Timeout
  Error: Trying to clone an uncloneable object of class Async\Timeout: clone
  Exception: Serialization of 'Async\Timeout' is not allowed: serialize
  Async\TimeoutException: Timeout occurred after 0 milliseconds: await
  Async\OperationCanceledException: Operation has been cancelled: token
FutureState
  Error: The future state was not constructed: complete error isCompleted ignore getAwaitingInfo getCreatedFileAndLine getCreatedLocation getCompletedFileAndLine getCompletedLocation new Future
  Error: Trying to clone an uncloneable object of class Async\FutureState: clone
  Exception: Serialization of 'Async\FutureState' is not allowed: serialize
  Async\AsyncException: Expected an item of type Async\Awaitable, Async\FutureState given: await_all
Future
  Error: The future was not constructed: isCompleted isCancelled cancel ignore map catch finally await getAwaitingInfo getCreatedFileAndLine getCreatedLocation getCompletedFileAndLine getCompletedLocation await token await_all
  Error: Trying to clone an uncloneable object of class Async\Future: clone
  Exception: Serialization of 'Async\Future' is not allowed: serialize
Scope
  Error: The scope was not constructed: asNotSafely allowZombies spawn cancel awaitCompletion awaitAfterCancellation isFinished isClosed isCancelled setExceptionHandler setChildScopeExceptionHandler finally dispose disposeSafely disposeAfterTimeout getChildScopes spawn_with new TaskGroup Scope::inherit
  Error: Trying to clone an uncloneable object of class Async\Scope: clone
  Exception: Serialization of 'Async\Scope' is not allowed: serialize
  Async\AsyncException: Expected an item of type Async\Awaitable, Async\Scope given: await_all
Channel
  Error: The channel was not constructed: send sendAsync recv recvAsync close isClosed capacity count isEmpty isFull foreach count await_all
  Error: Trying to clone an uncloneable object of class Async\Channel: clone
  Exception: Serialization of 'Async\Channel' is not allowed: serialize
Context
  Async\ContextException: Context key of type stdClass not found: get getLocal
  Error: Trying to clone an uncloneable object of class Async\Context: clone
  Exception: Serialization of 'Async\Context' is not allowed: serialize
  Async\AsyncException: Expected an item of type Async\Awaitable, Async\Context given: await_all
TaskGroup
  Error: The task group was not constructed: spawn spawnWithKey all race any getResults getErrors cancel close dispose isFinished isClosed count awaitCompletion finally foreach count await_all
  Error: An object of class Async\TaskGroup is not a traversable object in an invalid state: getIterator
  Error: Trying to clone an uncloneable object of class Async\TaskGroup: clone
  Exception: Serialization of 'Async\TaskGroup' is not allowed: serialize
TaskSet
  Error: The task set was not constructed: spawn spawnWithKey joinNext joinAny joinAll cancel close dispose isFinished isClosed count awaitCompletion finally foreach count await_all
  Error: An object of class Async\TaskSet is not a traversable object in an invalid state: getIterator
  Error: Trying to clone an uncloneable object of class Async\TaskSet: clone
  Exception: Serialization of 'Async\TaskSet' is not allowed: serialize
Pool
  Async\PoolException: The pool was not constructed: acquire tryAcquire release close isClosed count idleCount activeCount setCircuitBreakerStrategy getState activate deactivate recover count
  Error: Trying to clone an uncloneable object of class Async\Pool: clone
  Exception: Serialization of 'Async\Pool' is not allowed: serialize
  Async\AsyncException: Expected an item of type Async\Awaitable, Async\Pool given: await_all
CpuSnapshot
  Exception: Serialization of 'Async\CpuSnapshot' is not allowed: serialize
  Async\AsyncException: Expected an item of type Async\Awaitable, Async\CpuSnapshot given: await_all
FileSystemEvent
  Exception: Serialization of 'Async\FileSystemEvent' is not allowed: serialize
  Async\AsyncException: Expected an item of type Async\Awaitable, Async\FileSystemEvent given: await_all
FileSystemWatcher
  Error: FileSystemWatcher was not constructed: getIterator foreach await_all
  Error: Trying to clone an uncloneable object of class Async\FileSystemWatcher: clone
  Exception: Serialization of 'Async\FileSystemWatcher' is not allowed: serialize
Thread
  Async\AsyncException: Thread requires a Thread-Safe (ZTS) PHP build: isRunning isCompleted isCancelled getResult getException cancel finally
  Exception: Serialization of 'Async\Thread' is not allowed: serialize
  Async\AsyncException: Async\Thread cannot be waited for: only the classes of Async can: await token await_all
ThreadChannel
  Error: The channel was not constructed: send recv close isClosed capacity count isEmpty isFull count await_all
  Error: Trying to clone an uncloneable object of class Async\ThreadChannel: clone
  Exception: Serialization of 'Async\ThreadChannel' is not allowed: serialize
ThreadPool
  Async\AsyncException: ThreadPool requires a Thread-Safe (ZTS) PHP build: submit map close cancel isClosed getPendingCount getRunningCount getCompletedCount getWorkerCount reload
  Exception: Serialization of 'Async\ThreadPool' is not allowed: serialize
  Async\AsyncException: Expected an item of type Async\Awaitable, Async\ThreadPool given: await_all
end