<?php

/** @generate-class-entries */

namespace Async;

class AsyncCancellation extends \Cancellation
{
}

class OperationCanceledException extends AsyncCancellation
{
}

class AsyncException extends \Exception
{
}

class InputOutputException extends \Exception
{
}

class DnsException extends \Exception
{
}

class TimeoutException extends \Exception
{
}

class PollException extends \Exception
{
}

class DeadlockError extends \Error
{
}

class ServiceUnavailableException extends AsyncException
{
}

/** @strict-properties */
final class CompositeException extends \Exception
{
    private array $exceptions;

    public function addException(\Throwable $exception): void {}

    public function getExceptions(): array {}
}

class ContextException extends AsyncException
{
}
