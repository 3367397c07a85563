--TEST--
Transparent I/O: stream_select() with nothing that is a stream throws the TypeError about it
--EXTENSIONS--
true_async
--FILE--
<?php
use function Async\{spawn, await};

function ask(array $streams): void {
    $none = null;
    try {
        var_dump(stream_select($streams, $none, $none, 0));
    } catch (Error $e) {
        echo get_class($e), ': ', $e->getMessage(), $e->getPrevious() ? ' and ' . get_class($e->getPrevious()) : '', "\n";
    }
}
ask(['no stream']);
await(spawn(function () {
    ask(['no stream']);
    [$one, $other] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    ask([$one, 42]);
    fclose($one);
    ask([$one]);
    ask([]);
    stream_wrapper_register('cast', NoStream::class);
    ask([fopen('cast://', 'r')]);
}));

class NoStream {
    public $context;
    function stream_open(): bool {
        return true;
    }
    function stream_cast(): string {
        return 'no stream';
    }
}
?>
--EXPECTF--
ValueError: No stream arrays were passed and TypeError
TypeError: stream_select(): supplied argument is not a valid stream resource
TypeError: stream_select(): supplied argument is not a valid stream resource and TypeError
TypeError: stream_select(): supplied resource is not a valid stream resource
int(0)

Warning: stream_select(): NoStream::stream_cast must return a stream resource in %s on line %d

Warning: stream_select(): Cannot represent a stream of type user-space as a select()able descriptor in %s on line %d
ValueError: No stream arrays were passed and TypeError
