--TEST--
Transparent I/O: a script that has to be read from the disk is there for all who need it
--EXTENSIONS--
true_async
--SKIPIF--
<?php if (!is_executable('/bin/dd')) die('skip: needs dd');
--FILE--
<?php
use function Async\{spawn, await, await_all};

$file = __DIR__ . '/cold_' . getmypid() . '.php';
$ini = __DIR__ . '/cold_' . getmypid() . '.ini';
file_put_contents($file, "<?php\n" . str_repeat("// filler\n", 3000) . 'function helper() { return "there"; }');
file_put_contents($ini, "key=value\n");
exec("sync $file $ini; for each in $file $ini; do dd if=\$each iflag=nocache count=0 2>/dev/null; done");
$need = function () use ($file, $ini) {
    require_once $file;
    return helper() . ' ' . parse_ini_file($ini)['key'];
};
[$results, $errors] = await_all([spawn($need), spawn($need), spawn($need)]);
echo json_encode([$results, array_map(fn($error) => $error->getMessage(), $errors)]), "\n";
unlink($file);
unlink($ini);
?>
--EXPECT--
[["there value","there value","there value"],[]]
