--TEST--
Transparent I/O: coroutines that read files of one archive get each its own bytes
--EXTENSIONS--
ffi
phar
true_async
--INI--
ffi.enable=1
phar.readonly=0
--FILE--
<?php
use function Async\{spawn, await, await_all, suspend};

$file = __DIR__ . '/072-phar.phar';
@unlink($file);
$archive = new Phar($file);
$archive->startBuffering();
$numbers = range(10000, 39999);
$texts = [];
foreach (['a', 'b', 'c'] as $name) {
    $texts[$name] = $name . implode("\n$name", $numbers) . "\n";
    $archive["$name.txt"] = $texts[$name];
    $archive["$name.php"] = '<?php /*' . str_repeat($name, 200000) . "*/ return '$name';";
}
$archive->stopBuffering();

// The page cache drops the archive, as it does when memory is short.
$system = FFI::cdef('int open(const char *name, int flags); int fsync(int fd); int posix_fadvise(int fd, long offset, long size, int advice);');
$fd = $system->open($file, 0);
$system->fsync($fd);
$drop = fn() => $system->posix_fadvise($fd, 0, 0, 4);

$read_all = function ($stream, callable $read) use ($drop) {
    for ($text = ''; !feof($stream);) {
        $drop();
        $text .= $read($stream);
    }
    return $text;
};
$methods = [
    'file_get_contents' => fn($name) => file_get_contents("phar://$file/$name.txt"),
    'fread' => fn($name) => $read_all(fopen("phar://$file/$name.txt", 'r'), fn($stream) => fread($stream, 8192)),
    'fgets' => fn($name) => $read_all(
        fopen("phar://$file/$name.txt", 'r'),
        fn($stream) => implode('', array_map(fn() => fgets($stream), range(1, 1000)))
    ),
    'stream_get_contents' => fn($name) => $read_all(
        fopen("phar://$file/$name.txt", 'r'),
        fn($stream) => stream_get_contents($stream, 20000)
    ),
    'copy' => function ($name) use ($file) {
        copy("phar://$file/$name.txt", "$file.$name");
        $text = file_get_contents("$file.$name");
        unlink("$file.$name");
        return $text;
    },
    'getContent' => fn($name) => (new PharFileInfo("phar://$file/$name.txt"))->getContent(),
    'SplFileObject' => fn($name) => implode('', iterator_to_array(new SplFileObject("phar://$file/$name.txt"), false)),
    'file' => fn($name) => implode('', file("phar://$file/$name.txt")),
    'iteration' => function ($name) use ($file, $drop) {
        foreach (new Phar($file) as $each) {
            $drop();
            if ($each->getFilename() === "$name.txt") {
                return $each->getContent();
            }
        }
    },
    'hash_file' => fn($name) => hash_file('md5', "phar://$file/$name.txt") === md5($texts[$name]) ? $texts[$name] : '',
    'include' => fn($name) => include "phar://$file/$name.php",
];
foreach ($methods as $method => $read) {
    $job = function ($name) use ($read, $drop, $texts, $method) {
        for ($good = 0; $good < 3; $good++) {
            $drop();
            if ($read($name) !== ($method === 'include' ? $name : $texts[$name])) {
                return 'wrong';
            }
            suspend();
        }
        return 'good';
    };
    [$results, $errors] = await_all([spawn($job, 'a'), spawn($job, 'b'), spawn($job, 'c')]);
    echo "$method: ", json_encode([...$results, ...array_map(fn($error) => $error->getMessage(), $errors)]), "\n";
}

// It is still the extension's own stream.
echo json_encode(array_intersect_key(stream_get_meta_data(fopen("phar://$file/a.txt", 'r')), ['wrapper_type' => 1, 'stream_type' => 1])), "\n";
var_dump(@file_get_contents("phar://$file/none.txt"));
echo preg_replace('~phar://\S+/| "/.*~', '', error_get_last()['message']), "\n";
echo json_encode([is_file("phar://$file/a.txt"), filesize("phar://$file/a.txt"), scandir("phar://$file")]), "\n";
echo json_encode([rename("phar://$file/a.txt", "phar://$file/d.txt"), unlink("phar://$file/b.txt"), mkdir("phar://$file/e")]), "\n";
echo json_encode([rmdir("phar://$file/e"), file_put_contents("phar://$file/f.txt", 'new'), file_get_contents("phar://$file/f.txt")]), "\n";

// Who waits in an error handler lets others run.
set_error_handler(function () {
    $has_run = false;
    $other = spawn(function () use (&$has_run) { $has_run = true; });
    usleep(1000);
    echo 'others run: ', json_encode($has_run), "\n";
    return true;
});
fopen("phar://$file/none.txt", 'r');
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/072-phar.phar');
?>
--EXPECT--
file_get_contents: ["good","good","good"]
fread: ["good","good","good"]
fgets: ["good","good","good"]
stream_get_contents: ["good","good","good"]
copy: ["good","good","good"]
getContent: ["good","good","good"]
SplFileObject: ["good","good","good"]
file: ["good","good","good"]
iteration: ["good","good","good"]
hash_file: ["good","good","good"]
include: ["good","good","good"]
{"wrapper_type":"phar","stream_type":"phar stream"}
bool(false)
file_get_contents(none.txt): Failed to open stream: phar error: "none.txt" is not a file in phar
[true,210000,["a.php","a.txt","b.php","b.txt","c.php","c.txt"]]
[true,true,true]
[true,3,"new"]
others run: true
