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
if ($driver === 'pdo') {
    $options = match ($mode) {
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
if (in_array($mode, ['ca', 'flag-ca', 'dont-verify', 'verify'])) {
    $link->ssl_set(null, null, $ca, null, null);
}
if ($mode === 'verify') {
    $link->options(MYSQLI_OPT_SSL_VERIFY_SERVER_CERT, true);
}
$flags = match ($mode) {
    'flag', 'flag-ca', 'verify' => MYSQLI_CLIENT_SSL,
    'dont-verify' => MYSQLI_CLIENT_SSL | MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT,
    default => 0,
};
$link->real_connect($host, $user, $password, null, (int) $port, null, $flags);
$link->query('SELECT 1')->fetch_all();
