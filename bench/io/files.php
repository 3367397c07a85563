<?php
// Regular files, which the page cache answers for. In a coroutine where the extension is loaded, else the floor.

require __DIR__ . '/../php/support.php';

const SIZE = 65536;
const PIECE = 8192;

$file = tempnam(sys_get_temp_dir(), 'ta-bench');
file_put_contents($file, str_repeat('x', SIZE));

/** One operation: a file read as a whole, and the same one piece by piece. */
function reads(int $operations): int {
    global $file;
    $stream = fopen($file, 'r');
    stream_set_read_buffer($stream, 0);
    $began = hrtime(true);
    for ($i = 0; $i < $operations; ++$i) {
        file_get_contents($file);
        rewind($stream);
        while (strlen(fread($stream, PIECE)) === PIECE) {
        }
    }
    return hrtime(true) - $began;
}

/** One operation: a file written piece by piece, over what it had. */
function writes(int $operations): int {
    global $file;
    $piece = str_repeat('y', PIECE);
    $stream = fopen($file, 'r+');
    $began = hrtime(true);
    for ($i = 0; $i < $operations; ++$i) {
        rewind($stream);
        for ($at = 0; $at < SIZE; $at += PIECE) {
            fwrite($stream, $piece);
        }
    }
    return hrtime(true) - $began;
}

if (extension_loaded('true_async')) {
    Async\await(Async\spawn(run_round(...), ['file_read' => reads(...), 'file_write' => writes(...)]));
} else {
    run_round(['file_read_floor' => reads(...), 'file_write_floor' => writes(...)]);
}
unlink($file);
