<?php
// Rows of the matrix: names that a slow server is asked for. All of them are asked for before it answers.
$slow = function (callable $look_up, mixed $expected): void {
    $address = getenv('IO_DNS') ?: skip('only root can make a view of the file system with another resolv.conf');
    start('dns', $address, COUNT) === 'ready' || fail('the name server did not start');
    at_once($look_up, $expected);
};
return [
    'slow DNS: gethostbyname' => fn() => $slow(fn($i) => gethostbyname("n$i.slow.test"), '127.0.0.1'),
    'slow DNS: gethostbynamel' => fn() => $slow(fn($i) => gethostbynamel("n$i.slow.test"), ['127.0.0.1']),
    'slow DNS: gethostbyaddr' => fn() => $slow(fn($i) => gethostbyaddr("10.0.0.$i"), 'host.slow.test'),
    'slow DNS: dns_get_record' => fn() => $slow(fn($i) => dns_get_record("n$i.slow.test", DNS_A)[0]['ip'], '127.0.0.1'),
    'slow DNS: arrays by reference' => function () use ($slow) {
        $mx = fn($i) => ["mx.n$i.slow.test"];
        $slow(function ($i) use (&$hosts, &$weights, $mx) {
            getmxrr("n$i.slow.test", $hosts, $weights);
            return [$hosts, $weights] === [$mx($i), [10]] ?: [$hosts, $weights];
        }, true);
        $slow(function ($i) use (&$servers, &$others) {
            $found = dns_get_record("m$i.slow.test", DNS_MX, $servers, $others);
            [$servers, $others] = [[$servers, $others] === [[], []], null];
            return [$found[0]['target'] === "mx.m$i.slow.test", $servers];
        }, [true, true]);
    },
    'slow DNS: checkdnsrr' => fn() => $slow(fn($i) => checkdnsrr("n$i.slow.test", 'A'), true),
    'slow DNS: fsockopen' => function () use ($slow) {
        [, $port] = explode(':', gate('line'));
        $slow(fn($i) => ask(fsockopen("n$i.slow.test", (int) $port)), "pong\n");
    },
    'slow DNS: file_get_contents' => function () use ($slow) {
        [, $port] = explode(':', gate('http'));
        $slow(fn($i) => file_get_contents("http://n$i.slow.test:$port/"), 'pong');
    },
    'slow DNS: curl' => function () use ($slow) {
        need('curl');
        [, $port] = explode(':', gate('http'));
        $slow(function ($i) use ($port) {
            $handle = curl_init("http://n$i.slow.test:$port/");
            curl_setopt($handle, CURLOPT_RETURNTRANSFER, true);
            return curl_exec($handle) ?: curl_error($handle);
        }, 'pong');
    },
];
