use strict;
use warnings;
use DBI;

my ($driver, $mode) = @ARGV;
my $name = $driver eq 'mysql' ? 'DBD::mysql' : 'DBD::MariaDB';
if ($mode eq 'version') {
    eval "require $name; 1" or die $@;
    print $name->VERSION, "\n";
    exit;
}
my $p = $driver eq 'mysql' ? 'mysql' : 'mariadb';
my %modes = (
    'default' => '',
    'ssl' => ";${p}_ssl=1",
    'system' => ";${p}_ssl=1",
    'optional' => ";${p}_ssl=1;${p}_ssl_optional=1",
    'ca' => ";${p}_ssl=1;${p}_ssl_ca_file=$ENV{SEALION_CA}",
    'optional-ca' => ";${p}_ssl=1;${p}_ssl_optional=1;${p}_ssl_ca_file=$ENV{SEALION_CA}",
    'verify' => ";${p}_ssl=1;${p}_ssl_ca_file=$ENV{SEALION_CA};${p}_ssl_verify_server_cert=1",
    'optional-verify' => ";${p}_ssl=1;${p}_ssl_optional=1;${p}_ssl_ca_file=$ENV{SEALION_CA};${p}_ssl_verify_server_cert=1",
);
# What is written in settings for a machine whose own store has the CA, where it names none.
$modes{settings} = $ENV{SEALION_SETTINGS} ? ";$ENV{SEALION_SETTINGS}" : '' if $mode eq 'settings';
$ENV{SSL_CERT_FILE} = $ENV{SEALION_CA} if $mode eq 'system' || $mode eq 'settings';
my $driver_name = $driver eq 'mysql' ? 'mysql' : 'MariaDB';
my $db = DBI->connect(
    "dbi:$driver_name:host=$ENV{SEALION_HOST};port=$ENV{SEALION_PORT};${p}_connect_timeout=5$modes{$mode}",
    $ENV{SEALION_USER}, $ENV{SEALION_PASSWORD}, { RaiseError => 1, PrintError => 0 },
);
$db->selectall_arrayref('SELECT 1');
