--TEST--
Transparent I/O: an exception from a cURL callback ends the transfer and comes out once, also of a multi handle
--EXTENSIONS--
curl
true_async
--FILE--
<?php
use function Async\{spawn, await};

$file = tempnam(sys_get_temp_dir(), 'curl');
file_put_contents($file, str_repeat('x', 100000));
function handle(string $file, array $options): CurlHandle {
    $handle = curl_init("file://$file");
    curl_setopt_array($handle, $options);
    return $handle;
}
$upload = "$file.up";
$up = fn(callable $read) => handle($upload, [CURLOPT_UPLOAD => true, CURLOPT_INFILESIZE => 5, CURLOPT_READFUNCTION => $read]);

// Without a coroutine nothing is different.
$handle = $up(fn() => -1);
echo 'plain: ', json_encode([curl_exec($handle), curl_errno($handle)]), "\n";

$count = 0;
$throw = function (string $name) use (&$count) {
    return function () use ($name, &$count) { ++$count; throw new Exception($name); };
};
$ways = [
    'write' => fn() => handle($file, [CURLOPT_WRITEFUNCTION => $throw('write')]),
    'read' => fn() => $up($throw('read')),
];
foreach ($ways as $name => $make) {
    $count = 0;
    await(spawn(function () use ($name, $make, &$count) {
        $handle = $make();
        try {
            curl_exec($handle);
            echo "not reached\n";
        } catch (Exception $e) {
            echo "curl_exec: {$e->getMessage()}, calls: $count, errno: ", curl_errno($handle), "\n";
        }
    }));
}

$ways['header'] = fn() => handle($file, [CURLOPT_RETURNTRANSFER => true, CURLOPT_HEADERFUNCTION => $throw('header')]);
$ways['progress'] = fn() => handle($file, [CURLOPT_RETURNTRANSFER => true, CURLOPT_NOPROGRESS => false, CURLOPT_PROGRESSFUNCTION => $throw('progress')]);
foreach ($ways as $name => $make) {
    await(spawn(function () use ($name, $make, $file) {
        $multi = curl_multi_init();
        $handle = $make();
        $got = 0;
        $well = handle($file, [CURLOPT_WRITEFUNCTION => function ($handle, $data) use (&$got) { $got += strlen($data); return strlen($data); }]);
        foreach ([$handle, $well] as $each) {
            curl_multi_add_handle($multi, $each);
        }
        $thrown = [];
        do {
            try {
                curl_multi_exec($multi, $running);
                curl_multi_select($multi, 0.01);
            } catch (Exception $e) {
                $thrown[] = $e->getMessage();
            }
        } while ($running);
        $results = [];
        while ($info = curl_multi_info_read($multi)) {
            $results[] = $info['result'];
        }
        rsort($results);
        echo "multi: ", implode(' ', $thrown), ', results: ', implode(' ', $results), ', errno: ', curl_errno($handle), ", the other: $got\n";
    }));
}

// Several in one call: one comes out, with the others behind it.
await(spawn(function () use ($file) {
    $multi = curl_multi_init();
    foreach (['one', 'two'] as $name) {
        curl_multi_add_handle($multi, $$name = handle($file, [CURLOPT_WRITEFUNCTION => fn() => throw new Exception($name)]));
    }
    $thrown = [];
    do {
        try {
            curl_multi_exec($multi, $running);
        } catch (Exception $e) {
            for (; $e !== null; $e = $e->getPrevious()) {
                $thrown[] = $e->getMessage();
            }
        }
    } while ($running);
    sort($thrown);
    echo implode(' ', $thrown), "\n";
}));

// What is written by code of PHP.
class Target {
    public $context;
    public function stream_open() { return true; }
    public function stream_write($data) { throw new Exception('target'); }
}
stream_wrapper_register('target', 'Target');
await(spawn(function () use ($file) {
    $handle = handle($file, [CURLOPT_FILE => fopen('target://', 'w')]);
    try {
        curl_exec($handle);
        echo "not reached\n";
    } catch (Exception $e) {
        echo $e->getMessage(), ' ', curl_errno($handle), "\n";
    }
}));

// Cancelled in a callback.
$one = spawn(function () use ($file) {
    curl_exec(handle($file, [CURLOPT_WRITEFUNCTION => function ($handle, $data) { Async\delay(60000); return strlen($data); }]));
    echo "not reached\n";
});
spawn(fn() => $one->cancel());
try {
    await($one);
} catch (Async\AsyncCancellation) {
    echo "cancelled\n";
}

// A read callback answers with data or with one of three numbers.
foreach ([0, 5, -1, 0x10000000] as $answer) {
    await(spawn(function () use ($up, $answer) {
        $handle = $up(fn() => $answer);
        try {
            $result = json_encode(curl_exec($handle));
            echo "$answer: $result ", curl_errno($handle), "\n";
        } catch (ValueError $e) {
            echo "$answer: {$e->getMessage()}, ", curl_errno($handle), "\n";
        }
    }));
}
unlink($file);
unlink($upload);
?>
--EXPECT--
plain: [false,26]
curl_exec: write, calls: 1, errno: 23
curl_exec: read, calls: 1, errno: 42
multi: write, results: 23 0, errno: 23, the other: 100000
multi: read, results: 42 0, errno: 42, the other: 100000
multi: header, results: 23 0, errno: 23, the other: 100000
multi: progress, results: 42 0, errno: 42, the other: 100000
one two
target 23
cancelled
0: true 0
5: The CURLOPT_READFUNCTION callback must return a string, 0, CURL_READFUNC_ABORT or CURL_READFUNC_PAUSE, 42
-1: The CURLOPT_READFUNCTION callback must return a string, 0, CURL_READFUNC_ABORT or CURL_READFUNC_PAUSE, 42
268435456: false 42
