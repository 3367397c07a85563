<?php
/// Loads the classes of the library in $library, as its composer.json says, and of Debian's packages.

$composer = json_decode(file_get_contents("$library/composer.json"), true);
$places = [];
foreach (['autoload', 'autoload-dev'] as $section) {
    foreach ($composer[$section]['psr-4'] ?? [] as $prefix => $folders) {
        foreach ((array) $folders as $folder) {
            $places[] = [$prefix, "$library/" . rtrim($folder, '/')];
        }
    }
    foreach ($composer[$section]['files'] ?? [] as $file) {
        require_once "$library/$file";
    }
}
spl_autoload_register(function (string $class) use ($places): void {
    $path = str_replace('\\', '/', $class) . '.php';
    foreach ($places as [$prefix, $folder]) {
        if (str_starts_with($class, $prefix)) {
            $file = "$folder/" . str_replace('\\', '/', substr($class, strlen($prefix))) . '.php';
            if (is_file($file)) {
                require_once $file;
                return;
            }
        }
    }
    if (is_file("/usr/share/php/$path")) {
        require_once "/usr/share/php/$path";
    }
});
