<?php
// Asks php-fpm for a page that several coroutines print at once, and reads nothing until all of them wait. What they print and log must be whole.
//
// Usage: php slow.php NAME ADDRESS WORK_DIRECTORY

[, $name, $address, $work] = $argv;

function record(int $type, string $content): string {
    return pack('CCnnCC', 1, $type, 1, strlen($content), 0, 0) . $content;
}

@unlink("$work/slow.socket");
$told = stream_socket_server("unix://$work/slow.socket");
$connection = stream_socket_client($address);
stream_set_timeout($connection, 9);
$text = '';
$query = http_build_query(['slow' => "unix://$work/slow.socket"]);
foreach (['SCRIPT_FILENAME' => __DIR__ . '/serve.php', 'REQUEST_METHOD' => 'GET', 'QUERY_STRING' => $query] as $key => $value) {
    $text .= pack('CC', strlen($key), strlen($value)) . $key . $value;
}
fwrite($connection, record(1, pack('nCx5', 1, 0)) . record(4, $text) . record(4, '') . record(5, ''));
$is_told = @stream_socket_accept($told, 9) !== false;

$texts = [6 => '', 7 => ''];
$is_whole = false;
while (strlen($head = stream_get_contents($connection, 8)) === 8) {
    ['version' => $version, 'type' => $type, 'size' => $size, 'padding' => $padding] = unpack('Cversion/Ctype/nid/nsize/Cpadding', $head);
    if ($version !== 1 || ($type !== 3 && !isset($texts[$type]))) {
        break;
    }
    $content = $size + $padding > 0 ? substr(stream_get_contents($connection, $size + $padding), 0, $size) : '';
    if ($type === 3) {
        $is_whole = true;
        break;
    }
    $texts[$type] .= $content;
}
$seen = [];
foreach (explode("\n", explode("\r\n\r\n", $texts[6], 2)[1] ?? '') as $line) {
    if (strlen($line) === 99 && preg_match('~^([ab])(\d+)\1+$~', $line, $found)) {
        $seen["$found[1]$found[2]"] = true;
    }
}
$lines = count($seen);
$logged = preg_match_all('~(?<!l)l\d+l+(?!l)~', $texts[7]);
$is_right = $is_told && $is_whole && $lines === 20000 && substr_count($texts[6], "\n") === 20003 && $logged === 100;
echo $is_right ? 'ok' : 'not ok', " $name-slow-reader: $lines lines of 20000, $logged of 100 in the log, ",
    $is_whole ? 'to the end' : 'the protocol is broken', $is_told ? '' : ', nobody began', "\n";
