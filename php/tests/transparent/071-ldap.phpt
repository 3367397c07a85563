--TEST--
Transparent I/O: the first calls of libldap in two coroutines at once
--EXTENSIONS--
ldap
true_async
--FILE--
<?php
use function Async\{spawn, await_all};

$listener = stream_socket_server('tcp://127.0.0.1:0');
$port = substr(strrchr(stream_socket_get_name($listener, false), ':'), 1);
fclose($listener);  // nobody is there
$bind = function () use ($port) {
    $link = ldap_connect("ldap://localhost:$port");
    ldap_set_option($link, LDAP_OPT_NETWORK_TIMEOUT, 5);
    return @ldap_bind($link, 'cn=x', 'y') ?: ldap_error($link);
};
// The library looks up its own name and that of the server, and holds a mutex meanwhile.
[$results, $errors] = await_all([spawn($bind), spawn($bind), spawn($bind)]);
echo json_encode([$results, array_map(fn($error) => $error->getMessage(), $errors)]), "\n";
?>
--EXPECT--
[["Can't contact LDAP server","Can't contact LDAP server","Can't contact LDAP server"],[]]
