<?php
[, $driver, $mode] = $argv;
if ($mode === 'version') {
    if (!extension_loaded($driver === 'pdo' ? 'pdo_mysql' : 'mysqli')) {
        fwrite(STDERR, "PHP has no $driver for MySQL\n");
        exit(3);
    }
    // Both speak through mysqlnd, which has the version of PHP; one on another library says so.
    echo PHP_VERSION, extension_loaded('mysqlnd') ? ', mysqlnd' : '', "\n";
    exit;
}
[$host, $port, $user, $password, $ca] = array_map(fn($name) => getenv("SEALION_$name"), ['HOST', 'PORT', 'USER', 'PASSWORD', 'CA']);
$told = $mode === 'settings' ? json_decode(getenv('SEALION_SETTINGS'), true) : [];
if ($driver === 'pdo') {
    $options = match ($mode) {
        'settings' => array_combine(array_map(fn($name) => constant("PDO::$name"), array_keys($told)), $told),
        'default' => [],
        'ca' => [PDO::MYSQL_ATTR_SSL_CA => $ca],
        'unverified' => [PDO::MYSQL_ATTR_SSL_CA => $ca, PDO::MYSQL_ATTR_SSL_VERIFY_SERVER_CERT => false],
        'verify' => [PDO::MYSQL_ATTR_SSL_CA => $ca, PDO::MYSQL_ATTR_SSL_VERIFY_SERVER_CERT => true],
    };
    $pdo = new PDO("mysql:host=$host;port=$port", $user, $password, [PDO::ATTR_TIMEOUT => 5] + $options);
    $pdo->query('SELECT 1')->fetchAll();
    exit;
}
$link = mysqli_init();
$link->options(MYSQLI_OPT_CONNECT_TIMEOUT, 5);
if (in_array($mode, ['ca', 'flag-ca', 'dont-verify', 'verify']) || isset($told['ssl_set'])) {
    $link->ssl_set(null, null, $told['ssl_set'] ?? $ca, null, null);
}
if ($mode === 'verify') {
    $link->options(MYSQLI_OPT_SSL_VERIFY_SERVER_CERT, true);
}
if (isset($told['MYSQLI_OPT_SSL_VERIFY_SERVER_CERT'])) {
    $link->options(MYSQLI_OPT_SSL_VERIFY_SERVER_CERT, $told['MYSQLI_OPT_SSL_VERIFY_SERVER_CERT']);
}
$flags = match ($mode) {
    'settings' => array_reduce(['MYSQLI_CLIENT_SSL', 'MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT'],
        fn($all, $name) => empty($told[$name]) ? $all : $all | constant($name), 0),
    'flag', 'flag-ca', 'verify' => MYSQLI_CLIENT_SSL,
    'dont-verify' => MYSQLI_CLIENT_SSL | MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT,
    default => 0,
};
$link->real_connect($host, $user, $password, null, (int) $port, null, $flags);
$link->query('SELECT 1')->fetch_all();
