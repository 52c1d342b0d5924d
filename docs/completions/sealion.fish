# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_sealion_global_optspecs
    string join \n inventory= format= color= v/verbose h/help V/version
end

function __fish_sealion_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_sealion_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_sealion_using_subcommand
    set -l cmd (__fish_sealion_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c sealion -n "__fish_sealion_needs_command" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_needs_command" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_needs_command" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_needs_command" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_needs_command" -s V -l version -d 'Print version'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "demo" -d 'Start a Galera cluster in cleartext, enable TLS under load, prove it, and write a report'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "scan" -d 'Scan the TLS of MySQL and MariaDB servers from outside, without a password'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "audit" -d 'Audit servers from inside: settings, sessions, accounts, replication'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "prove" -d 'Test clients, settings and traffic against attacks'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "status" -d 'Show what is configured, what is effective, and what was captured on each link'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "watch" -d 'Check again and again; report to Prometheus what is plain, unknown, or ends soon'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "watch-clients" -d 'Watch for a while who uses the servers, and who in cleartext'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "web" -d 'Show what `sealion watch` keeps, in a browser on this machine'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "plan" -d 'Show what a change would do; changes nothing'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "apply" -d 'Apply a plan that was saved with `plan --format json`'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "enable" -d 'Enable TLS on running servers, one after the other'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "disable" -d 'Disable TLS on running servers, one after the other'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "rotate" -d 'Replace certificates and keys of running servers, and the CA'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "trust" -d 'Use certificates of another CA than the cluster\'s own: request and import them'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "join" -d 'Make a new server a member of an encrypted Galera cluster'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "resume" -d 'Finish a change that was interrupted'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "undo" -d 'Revert the newest change'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "diagnose" -d 'Say why a server or a table does not open, as far as keys of data at rest are the cause'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "keys" -d 'Copies of the keys of data at rest: list them, restore them, prove them'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "abandon" -d 'Close an unfinished change as it is, and print what is left in which state'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "bench" -d 'Measure what a server can do, and what encryption costs'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "migrate" -d 'Move schemas from one server to another while applications write'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "send" -d 'Copy a directory, or what a program writes, to another host, encrypted'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "receive" -d 'Wait for a copy from `sealion send`, and write it'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "archive" -d 'Keep a directory, or what a program writes, in an encrypted file'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "xbcrypt" -d 'Encrypt and decrypt as xbcrypt of XtraBackup does'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "xbstream" -d 'Extract, list or write backup streams of mariabackup and XtraBackup'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "share" -d 'Share a table in an encrypted archive, until a date, through proxies that see nothing'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "lab" -d 'Run real servers on loopback'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "report" -d 'List saved runs, or show a report.json'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "agent" -d 'Answer for this machine on standard input and output: what sealion starts by ssh'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "config" -d 'Print effective options, or draft an inventory'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "grants" -d 'Print the privileges that a command needs: GRANT statements and lines for sudoers'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "explain" -d 'Explain a rule: what it means, why it matters, how to fix it'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "completions" -d 'Print shell completions'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "man" -d 'Write man pages, one file a command'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l out -d 'Directory for report.html and report.json' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l sst -d 'SST method of joiners; default: rsync, or mariabackup with --relay' -r -f -a "rsync\t''
mariabackup\t''"
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l keep -d 'Keep the cluster running and print how to connect'
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l full -d 'Also rotate certificates, disable TLS, undo, and enable it again'
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l system -d 'Use the MariaDB and Galera that are installed on this system'
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l no-namespace -d 'Use the host\'s loopback interface, not a network namespace'
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l relay -d 'Observe traffic through relays, as is done where packets may not be captured'
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l hosts -d 'Make each node a host of its own, with a network and a sshd, and reach it by ssh'
complete -c sealion -n "__fish_sealion_using_subcommand demo" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l targets-file -d 'Read more targets from FILE, one a line; - is standard input' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l authorized-range -d 'File with the address ranges that may be scanned, one a line' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l resume -d 'Complete an interrupted scan from the JSON file it left' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l out -d 'Also write the result as JSON to FILE' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l html -d 'Also write an HTML page to FILE' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l baseline -d 'Show only what changed since this JSON file was written' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l intrusive -d 'Also test for Heartbleed, early CCS and ROBOT' -r -f -a "heartbleed\t''
ccs\t''
robot\t''
login\t'One login as "sealion_scan", refused and logged: is the RSA key of the password plugins offered in cleartext?'"
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l max-handshakes -d 'Connections to one address a day' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l login-file -d 'Log in once afterwards, so that servers reset their count' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l workers -d 'Let workers scan: a NATS broker (nats://HOST:PORT), or a file for workers on this machine' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l zone -d 'Zone of the workers: ZONE, NETWORK/PREFIX=ZONE or .DOMAIN=ZONE' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l lease-s -d 'Give a target to another worker after so many seconds without a sign of life' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l silence-s -d 'End the scan if no worker answers for so many seconds' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l nats-ca -d 'CA certificates of the broker, instead of those of the system' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l nats-login -d 'Credentials file or nkey seed for the broker, with mode 0600' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l nats-name -d 'Name at the broker, and of the inbox _INBOX_NAME' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l broker-wait-s -d 'Wait so many seconds for a broker that is away' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l rate -d 'New connections a second, for all targets together' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l at-once -d 'Targets scanned in parallel, with one connection each' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l timeout-ms -d 'Timeout of one connection in milliseconds' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l proxy-protocol -d 'Send a PROXY header first, for servers behind a load balancer' -r -f -a "v1\t''
v2\t''"
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l ssl-ca -d 'CA certificates to verify against, beside those of the system' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l fail-on -d 'Exit with 1 if a finding has this severity or a higher one' -r -f -a "info\t''
low\t''
medium\t''
high\t''
critical\t''"
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l format -d 'Output format' -r -f -a "table\t''
json\t''
csv\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l full -d 'Test every cipher suite, group and signature scheme'
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l first -d 'Read only the greeting, one handshake and the certificate'
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -l forget-budget -d 'Reset the count of connections of --max-handshakes'
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand scan; and not __fish_seen_subcommand_from worker" -a "worker" -d 'Scan targets for others: take them from a queue, and hand the results in'
complete -c sealion -n "__fish_sealion_using_subcommand scan; and __fish_seen_subcommand_from worker" -l from -d 'Where the targets are: a NATS broker (nats://HOST:PORT), or a file' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and __fish_seen_subcommand_from worker" -l zone -d 'Take targets of this zone only' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and __fish_seen_subcommand_from worker" -l authorized-range -d 'Contact only addresses in the ranges of FILE, whatever is asked for' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan; and __fish_seen_subcommand_from worker" -l intrusive -d 'Permit probes that may harm a server, if a scan asks for them' -r -f -a "heartbleed\t''
ccs\t''
robot\t''
login\t'One login as "sealion_scan", refused and logged: is the RSA key of the password plugins offered in cleartext?'"
complete -c sealion -n "__fish_sealion_using_subcommand scan; and __fish_seen_subcommand_from worker" -l rate -d 'New connections a second of this worker' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and __fish_seen_subcommand_from worker" -l at-once -d 'Targets scanned in parallel, with one connection each' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and __fish_seen_subcommand_from worker" -l nats-ca -d 'CA certificates of the broker, instead of those of the system' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan; and __fish_seen_subcommand_from worker" -l nats-login -d 'Credentials file or nkey seed for the broker, with mode 0600' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan; and __fish_seen_subcommand_from worker" -l nats-name -d 'Name at the broker, and of the inbox _INBOX_NAME' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and __fish_seen_subcommand_from worker" -l broker-wait-s -d 'Wait so many seconds for a broker that is away' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan; and __fish_seen_subcommand_from worker" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan; and __fish_seen_subcommand_from worker" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand scan; and __fish_seen_subcommand_from worker" -l print-permissions -d 'Print the permissions that a worker needs at nats-server, and exit'
complete -c sealion -n "__fish_sealion_using_subcommand scan; and __fish_seen_subcommand_from worker" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand scan; and __fish_seen_subcommand_from worker" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l flavour -d 'With --print-grants: only those for this flavour' -r -f -a "mariadb\t''
mysql\t''"
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l if -d 'Print what could be read by who has got hold of one thing: disk, backup, link, host, app-account=NAME' -r
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l search-dir -d 'With --search: look for dumps and copies in this directory too; may be given several times' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l baseline -d 'Show only what changed since this JSON file was written' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l profile -d 'Show only the rules that bear on a standard, in its order' -r -f -a "pci\t''
cis\t''
hipaa\t''
all\t''"
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l fail-on -d 'Exit with 1 if a finding has this severity or a higher one' -r -f -a "info\t''
low\t''
medium\t''
high\t''
critical\t''"
complete -c sealion -n "__fish_sealion_using_subcommand audit" -s h -l host -d 'Host name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand audit" -s P -l port -d 'Port' -r
complete -c sealion -n "__fish_sealion_using_subcommand audit" -s u -l user -d 'User' -r
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l password-file -d 'Read the password from FILE (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l password-fd -d 'Read the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand audit" -s S -l socket -d 'Unix socket' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l defaults-group-suffix -d 'Also read option groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l login-path -d 'Login path of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l ssl-mode -d 'As --ssl-mode of mysql: REQUIRED, VERIFY_CA, ...' -r
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l ssl-ca -d 'CA certificates to verify the server against' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l ssl-crl -d 'Certificate revocation lists of that CA' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l ssl-cert -d 'Client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l ssl-key -d 'Private key of the client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l format -d 'Output format' -r -f -a "table\t''
json\t''
csv\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l print-grants -d 'Print the statements that create an account for it, and do nothing else'
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l fix-plan -d 'Print what fixes the findings, in an order that breaks nobody'
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l search -d 'Search the machine too: secrets in logs and histories, dumps and copies'
complete -c sealion -n "__fish_sealion_using_subcommand audit" -s p -l password -d 'Prompt for the password'
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l ssl -d 'Require TLS, as --ssl of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l skip-ssl -d 'Do not use TLS'
complete -c sealion -n "__fish_sealion_using_subcommand audit" -l ssl-verify-server-cert -d 'Verify the certificate and the host name, as the option of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand audit" -s ? -l help -d 'Print help; --help prints all options'
complete -c sealion -n "__fish_sealion_using_subcommand audit" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay disk tour list help" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay disk tour list help" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay disk tour list help" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay disk tour list help" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay disk tour list help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay disk tour list help" -f -a "client" -d 'Test one client against man-in-the-middle attacks, using a rogue server'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay disk tour list help" -f -a "clients" -d 'Test database drivers and tools, in every TLS mode they have'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay disk tour list help" -f -a "config" -d 'Check the database connections in application settings'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay disk tour list help" -f -a "serve" -d 'Run the rogue server, one port for each attack, and report what clients give away'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay disk tour list help" -f -a "sniff" -d 'Report what can be read from a capture file or a network interface'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay disk tour list help" -f -a "relay" -d 'Run a relay between a client and a real server, passive or as an attacker'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay disk tour list help" -f -a "disk" -d 'Write canaries to a running server and search its files for them'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay disk tour list help" -f -a "tour" -d 'Demonstrate the classic attacks on real servers, and what stops each'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay disk tour list help" -f -a "list" -d 'List the attacks'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay disk tour list help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l case -d 'Only these attacks (see `sealion prove list`), comma-separated; may be repeated' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l host -d 'Host name that clients connect to; valid certificates are issued for it. Default: localhost' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l authorized-bind -d 'Listen on this address instead of 127.0.0.1; whoever can reach it can be attacked' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l timeout-s -d 'Timeout of one run of the client in seconds' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l namespace -d 'Use a network namespace with a routable address and a host name: some libraries check less for localhost'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l stream -d 'The client speaks first: TLS from its first byte, or a protocol of its own (SST donor, socat, stunnel)'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l only -d 'Only these clients (IDs), comma-separated; may be repeated' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l case -d 'Attacks to test instead of the default ones (see `sealion prove list`)' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l dir -d 'Where clients are installed; default: sealion\'s cache' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l page -d 'Also write the matrix as a Markdown page, and as data for `prove config`' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l timeout-s -d 'Timeout of one run of a client in seconds' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l install -d 'Install missing clients from their language\'s registry'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l no-namespace -d 'Use the host\'s loopback interface, not a network namespace; some libraries check less there'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l by-address -d 'Connect to an IP address, not to a host name'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l driver -d 'Driver of URLs that do not name one (mysql://)' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l matrix -d 'Use this output of `prove clients --format json` instead of the built-in matrix' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l fail-on -d 'Exit with 1 if a connection has this severity or a higher one, with 3 if one is unknown' -r -f -a "info\t''
low\t''
medium\t''
high\t''
critical\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l dir -d 'Where drivers are installed; default: sealion\'s cache' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l timeout-s -d 'Timeout of one run of a driver in seconds' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l confirm -d 'Also run the driver with these settings against the rogue server, and compare'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l install -d 'Install missing drivers from their language\'s registry'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l no-namespace -d 'Use the host\'s loopback interface, not a network namespace; some libraries check less there'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l case -d 'Only these attacks (see `sealion prove list`), comma-separated; may be repeated' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l host -d 'Host name that clients connect to; valid certificates are issued for it. Default: localhost' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l authorized-bind -d 'Listen on this address instead of 127.0.0.1; whoever can reach it can be attacked' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l port -d 'Port of the first attack, the others follow; 0: the kernel chooses' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l namespace -d 'Use a network namespace with a routable address and a host name: some libraries check less for localhost'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l iface -d 'Capture on this network interface instead' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l seconds -d 'Capture for this many seconds; default: until Ctrl-C' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l port -d 'Another port that MySQL listens on; may be repeated. A greeting is recognized on any port' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l canary -d 'Also search for this text and report where it was; may be repeated. It is never printed' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l canary-file -d 'Also search for each line of FILE, for texts that must not show in the process list' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l limit -d 'Show this many connections, the worst first' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l fail-on-clear -d 'Exit with 1 if something readable was found'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l to -d 'The real server: HOST:PORT, or the path of its Unix socket' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l listen -d 'Where clients connect: a port of 127.0.0.1 (0: the kernel chooses), or a path for a Unix socket' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l authorized-bind -d 'Listen on this address instead of 127.0.0.1; whoever can reach it can be attacked' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l change-result -d 'Attack: change a marked value in results on their way to the client' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l password-file -d 'Compare a captured password with the first line of FILE; neither is kept' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l canary -d 'Also search for this text and report where it was; may be repeated. It is never printed' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l canary-file -d 'Also search for each line of FILE, for texts that must not show in the process list' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l seconds -d 'Stop after this many seconds; default: at Ctrl-C' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l strip -d 'Attack: remove TLS from the server\'s greeting'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l substitute-key -d 'Attack: send an RSA key of our own for the password'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l fail-on-clear -d 'Exit with 1 if something readable was found'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l fill-mb -d 'MiB for each temporary table; those of a table that fits into the buffer pool may reach no disk' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l wait -d 'Seconds to wait for a checkpoint that passes what was written' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -s h -l host -d 'Host name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -s P -l port -d 'Port' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -s u -l user -d 'User' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l password-file -d 'Read the password from FILE (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l password-fd -d 'Read the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -s S -l socket -d 'Unix socket' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l defaults-group-suffix -d 'Also read option groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l login-path -d 'Login path of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l ssl-mode -d 'As --ssl-mode of mysql: REQUIRED, VERIFY_CA, ...' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l ssl-ca -d 'CA certificates to verify the server against' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l ssl-crl -d 'Certificate revocation lists of that CA' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l ssl-cert -d 'Client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l ssl-key -d 'Private key of the client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l yes -d 'Do not ask: write canaries to the server'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -s p -l password -d 'Prompt for the password'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l ssl -d 'Require TLS, as --ssl of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l skip-ssl -d 'Do not use TLS'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -l ssl-verify-server-cert -d 'Verify the certificate and the host name, as the option of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -s ? -l help -d 'Print help; --help prints all options'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from disk" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -l only -d 'Only these parts (IDs), comma-separated; may be repeated' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -l html -d 'Also write an HTML page for teaching to FILE' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -l out -d 'Also write the JSON of `--format json` to FILE' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from list" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from list" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from list" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from list" -l clients -d 'List the drivers and tools of `prove clients`, with their IDs for --only'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from help" -f -a "client" -d 'Test one client against man-in-the-middle attacks, using a rogue server'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from help" -f -a "clients" -d 'Test database drivers and tools, in every TLS mode they have'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from help" -f -a "config" -d 'Check the database connections in application settings'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from help" -f -a "serve" -d 'Run the rogue server, one port for each attack, and report what clients give away'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from help" -f -a "sniff" -d 'Report what can be read from a capture file or a network interface'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from help" -f -a "relay" -d 'Run a relay between a client and a real server, passive or as an attacker'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from help" -f -a "disk" -d 'Write canaries to a running server and search its files for them'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from help" -f -a "tour" -d 'Demonstrate the classic attacks on real servers, and what stops each'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the attacks'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l look-ms -d 'Capture traffic for this long; 0 captures nothing' -r
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l fail-on -d 'Exit with 1 if a finding has this severity or a higher one' -r -f -a "info\t''
low\t''
medium\t''
high\t''
critical\t''"
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -s h -l host -d 'Host name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -s P -l port -d 'Port' -r
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -s u -l user -d 'User' -r
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l password-file -d 'Read the password from FILE (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l password-fd -d 'Read the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -s S -l socket -d 'Unix socket' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l defaults-group-suffix -d 'Also read option groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l login-path -d 'Login path of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l ssl-mode -d 'As --ssl-mode of mysql: REQUIRED, VERIFY_CA, ...' -r
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l ssl-ca -d 'CA certificates to verify the server against' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l ssl-crl -d 'Certificate revocation lists of that CA' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l ssl-cert -d 'Client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l ssl-key -d 'Private key of the client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l format -d 'Output format' -r -f -a "table\t''
json\t''
line\t''"
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l canaries -d 'Write a test row on every node while capturing'
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -s p -l password -d 'Prompt for the password'
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l ssl -d 'Require TLS, as --ssl of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l skip-ssl -d 'Do not use TLS'
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -l ssl-verify-server-cert -d 'Verify the certificate and the host name, as the option of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -s ? -l help -d 'Print help; --help prints all options'
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -f -a "rest" -d 'Show what the files of a data directory hold: encrypted, plain, or both'
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -f -a "disk" -d 'Show what lies below a data directory, and what a LUKS header says'
complete -c sealion -n "__fish_sealion_using_subcommand status; and not __fish_seen_subcommand_from rest disk help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l datadir -d 'Data directory' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -s h -l host -d 'Host name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -s P -l port -d 'Port' -r
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -s u -l user -d 'User' -r
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l password-file -d 'Read the password from FILE (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l password-fd -d 'Read the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -s S -l socket -d 'Unix socket' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l defaults-group-suffix -d 'Also read option groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l login-path -d 'Login path of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l ssl-mode -d 'As --ssl-mode of mysql: REQUIRED, VERIFY_CA, ...' -r
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l ssl-ca -d 'CA certificates to verify the server against' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l ssl-crl -d 'Certificate revocation lists of that CA' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l ssl-cert -d 'Client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l ssl-key -d 'Private key of the client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l fail-on-plain -d 'Exit with 1 if something is plain that the server could encrypt, with 3 if something is unknown'
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -s p -l password -d 'Prompt for the password'
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l ssl -d 'Require TLS, as --ssl of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l skip-ssl -d 'Do not use TLS'
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -l ssl-verify-server-cert -d 'Verify the certificate and the host name, as the option of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -s ? -l help -d 'Print help; --help prints all options'
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from rest" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from disk" -l datadir -d 'Data directory' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from disk" -l fail-on -d 'Exit with 1 if something is weak with this severity or a higher one' -r -f -a "info\t''
low\t''
medium\t''
high\t''
critical\t''"
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from disk" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from disk" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from disk" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from disk" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from disk" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from help" -f -a "rest" -d 'Show what the files of a data directory hold: encrypted, plain, or both'
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from help" -f -a "disk" -d 'Show what lies below a data directory, and what a LUKS header says'
complete -c sealion -n "__fish_sealion_using_subcommand status; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l every -d 'Check this often' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l timeout -d 'Give up a check after this long' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l look-ms -d 'Capture traffic for this long in each check; 0 captures nothing' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l listen -d 'Serve /metrics for Prometheus here' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l textfile -d 'Write the metrics to FILE after each check' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l store -d 'Keep states and their history in FILE' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l on-change -d 'Run CMD when a check has changed something' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l on-change-timeout -d 'Kill the command of --on-change after this long' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch" -s h -l host -d 'Host name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch" -s P -l port -d 'Port' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch" -s u -l user -d 'User' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l password-file -d 'Read the password from FILE (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l password-fd -d 'Read the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch" -s S -l socket -d 'Unix socket' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l defaults-group-suffix -d 'Also read option groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l login-path -d 'Login path of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l ssl-mode -d 'As --ssl-mode of mysql: REQUIRED, VERIFY_CA, ...' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l ssl-ca -d 'CA certificates to verify the server against' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l ssl-crl -d 'Certificate revocation lists of that CA' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l ssl-cert -d 'Client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l ssl-key -d 'Private key of the client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l once -d 'Check once, and end'
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l at-rest -d 'Ask servers which of their files they call encrypted'
complete -c sealion -n "__fish_sealion_using_subcommand watch" -s p -l password -d 'Prompt for the password'
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l ssl -d 'Require TLS, as --ssl of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l skip-ssl -d 'Do not use TLS'
complete -c sealion -n "__fish_sealion_using_subcommand watch" -l ssl-verify-server-cert -d 'Verify the certificate and the host name, as the option of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand watch" -s ? -l help -d 'Print help; --help prints all options'
complete -c sealion -n "__fish_sealion_using_subcommand watch" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l for -d 'Capture for this long: 90s, 10m, 8h, 7d' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l since -d 'Also show what earlier runs found in this time' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l look-ms -d 'Capture this long at a time' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -s h -l host -d 'Host name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -s P -l port -d 'Port' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -s u -l user -d 'User' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l password-file -d 'Read the password from FILE (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l password-fd -d 'Read the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -s S -l socket -d 'Unix socket' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l defaults-group-suffix -d 'Also read option groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l login-path -d 'Login path of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l ssl-mode -d 'As --ssl-mode of mysql: REQUIRED, VERIFY_CA, ...' -r
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l ssl-ca -d 'CA certificates to verify the server against' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l ssl-crl -d 'Certificate revocation lists of that CA' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l ssl-cert -d 'Client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l ssl-key -d 'Private key of the client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l fail-on-cleartext -d 'Exit with 1 if a client used cleartext'
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -s p -l password -d 'Prompt for the password'
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l ssl -d 'Require TLS, as --ssl of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l skip-ssl -d 'Do not use TLS'
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -l ssl-verify-server-cert -d 'Verify the certificate and the host name, as the option of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -s ? -l help -d 'Print help; --help prints all options'
complete -c sealion -n "__fish_sealion_using_subcommand watch-clients" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand web" -l store -d 'Show what is kept in FILE' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand web" -l listen -d 'Listen at this address: a loopback one, unless clients need a certificate' -r
complete -c sealion -n "__fish_sealion_using_subcommand web" -l socket -d 'Listen at a unix socket instead, for this user and root' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand web" -l allow-user -d 'Also let this user in at the socket, by name or number' -r
complete -c sealion -n "__fish_sealion_using_subcommand web" -l tls-cert -d 'Speak TLS with this certificate and its chain (PEM)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand web" -l tls-key -d 'The private key of --tls-cert (PEM, mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand web" -l client-ca -d 'Let in clients with a certificate of this CA (PEM), and nobody else' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand web" -l host -d 'A name under which browsers reach this host' -r
complete -c sealion -n "__fish_sealion_using_subcommand web" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand web" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand web" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand web" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand web" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l ca-passphrase-file -d 'File with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l watch-clients-s -d 'Watch client connections for this long before TLS is required of them' -r
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l sync-s-max -d 'Wait this long for a restarted node to be Synced' -r
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l drain-s-max -d 'Wait this long for sessions to leave a drained node' -r
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l leave -d 'With accounts: leave this account as it is' -r
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l force -d 'With accounts: require TLS of this account although it is used in cleartext' -r
complete -c sealion -n "__fish_sealion_using_subcommand plan" -s b -l bits -d 'Use RSA keys of this size, not ECDSA P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l leaf-days -d 'Validity of a node\'s certificate in days' -r
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l encryption-threads -d 'With tables: threads of InnoDB that encrypt' -r
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l encryption-iops -d 'With tables: pages a second that they may write anew' -r
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l profile -d 'With clients: versions of TLS and cipher suites that servers take: modern, intermediate' -r
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l format -d 'Output format' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''"
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l measure -d 'With tables: measure on each server how long it may take'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l accept-unknown-clients -d 'Require TLS of clients even if some may still connect without it'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l accept-shut-out -d 'Shut out clients that the next certificate, CA or profile does not fit'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l accept-unproven -d 'Close the change even if the last check could not prove it'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l allow-untested -d 'Change servers of a version that sealion was not tested with'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l accept-managed -d 'Change files that Ansible, Puppet or another tool writes'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l purge-binary-logs -d 'With logs: remove the binary logs of before'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l skip-openssl-check -d 'Change servers although their OpenSSL has a known fault'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l replace-data -d 'Replace the data of the new server, although it holds schemas of users'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l yes -d 'Do not ask for confirmation; HASH is the hash that the plan shows' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l ca-passphrase-file -d 'File with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l watch-clients-s -d 'Watch client connections for this long before TLS is required of them' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l sync-s-max -d 'Wait this long for a restarted node to be Synced' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l drain-s-max -d 'Wait this long for sessions to leave a drained node' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l leave -d 'With accounts: leave this account as it is' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l force -d 'With accounts: require TLS of this account although it is used in cleartext' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -s b -l bits -d 'Use RSA keys of this size, not ECDSA P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l leaf-days -d 'Validity of a node\'s certificate in days' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l encryption-threads -d 'With tables: threads of InnoDB that encrypt' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l encryption-iops -d 'With tables: pages a second that they may write anew' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l stop-after -d 'Stop after this step; sealion resume continues' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l pause-file -d 'Begin no step while this file exists' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l window -d 'Change servers only at these times of the day' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l max-lag -d 'Change servers only while no replica lags more than this' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l accept-unknown-clients -d 'Require TLS of clients even if some may still connect without it'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l accept-shut-out -d 'Shut out clients that the next certificate, CA or profile does not fit'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l accept-unproven -d 'Close the change even if the last check could not prove it'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l allow-untested -d 'Change servers of a version that sealion was not tested with'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l accept-managed -d 'Change files that Ansible, Puppet or another tool writes'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l purge-binary-logs -d 'With logs: remove the binary logs of before'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l skip-openssl-check -d 'Change servers although their OpenSSL has a known fault'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l replace-data -d 'Replace the data of the new server, although it holds schemas of users'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l take-over -d 'Continue although another sealion holds the lease'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l yes -d 'Do not ask for confirmation; HASH is the hash that the plan shows' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l ca-passphrase-file -d 'File with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l watch-clients-s -d 'Watch client connections for this long before TLS is required of them' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l sync-s-max -d 'Wait this long for a restarted node to be Synced' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l drain-s-max -d 'Wait this long for sessions to leave a drained node' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l leave -d 'With accounts: leave this account as it is' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l force -d 'With accounts: require TLS of this account although it is used in cleartext' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -s b -l bits -d 'Use RSA keys of this size, not ECDSA P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l leaf-days -d 'Validity of a node\'s certificate in days' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l encryption-threads -d 'With tables: threads of InnoDB that encrypt' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l encryption-iops -d 'With tables: pages a second that they may write anew' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l stop-after -d 'Stop after this step; sealion resume continues' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l pause-file -d 'Begin no step while this file exists' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l window -d 'Change servers only at these times of the day' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l max-lag -d 'Change servers only while no replica lags more than this' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l profile -d 'With clients: versions of TLS and cipher suites that servers take: modern, intermediate' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l accept-unknown-clients -d 'Require TLS of clients even if some may still connect without it'
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l accept-shut-out -d 'Shut out clients that the next certificate, CA or profile does not fit'
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l accept-unproven -d 'Close the change even if the last check could not prove it'
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l allow-untested -d 'Change servers of a version that sealion was not tested with'
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l accept-managed -d 'Change files that Ansible, Puppet or another tool writes'
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l purge-binary-logs -d 'With logs: remove the binary logs of before'
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l skip-openssl-check -d 'Change servers although their OpenSSL has a known fault'
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l take-over -d 'Continue although another sealion holds the lease'
complete -c sealion -n "__fish_sealion_using_subcommand enable" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand enable" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l yes -d 'Do not ask for confirmation; HASH is the hash that the plan shows' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l ca-passphrase-file -d 'File with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l watch-clients-s -d 'Watch client connections for this long before TLS is required of them' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l sync-s-max -d 'Wait this long for a restarted node to be Synced' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l drain-s-max -d 'Wait this long for sessions to leave a drained node' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l leave -d 'With accounts: leave this account as it is' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l force -d 'With accounts: require TLS of this account although it is used in cleartext' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -s b -l bits -d 'Use RSA keys of this size, not ECDSA P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l leaf-days -d 'Validity of a node\'s certificate in days' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l encryption-threads -d 'With tables: threads of InnoDB that encrypt' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l encryption-iops -d 'With tables: pages a second that they may write anew' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l stop-after -d 'Stop after this step; sealion resume continues' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l pause-file -d 'Begin no step while this file exists' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l window -d 'Change servers only at these times of the day' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l max-lag -d 'Change servers only while no replica lags more than this' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l accept-unknown-clients -d 'Require TLS of clients even if some may still connect without it'
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l accept-shut-out -d 'Shut out clients that the next certificate, CA or profile does not fit'
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l accept-unproven -d 'Close the change even if the last check could not prove it'
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l allow-untested -d 'Change servers of a version that sealion was not tested with'
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l accept-managed -d 'Change files that Ansible, Puppet or another tool writes'
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l purge-binary-logs -d 'With logs: remove the binary logs of before'
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l skip-openssl-check -d 'Change servers although their OpenSSL has a known fault'
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l take-over -d 'Continue although another sealion holds the lease'
complete -c sealion -n "__fish_sealion_using_subcommand disable" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand disable" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l yes -d 'Do not ask for confirmation; HASH is the hash that the plan shows' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l ca-passphrase-file -d 'File with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l watch-clients-s -d 'Watch client connections for this long before TLS is required of them' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l sync-s-max -d 'Wait this long for a restarted node to be Synced' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l drain-s-max -d 'Wait this long for sessions to leave a drained node' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l leave -d 'With accounts: leave this account as it is' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l force -d 'With accounts: require TLS of this account although it is used in cleartext' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -s b -l bits -d 'Use RSA keys of this size, not ECDSA P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l leaf-days -d 'Validity of a node\'s certificate in days' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l encryption-threads -d 'With tables: threads of InnoDB that encrypt' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l encryption-iops -d 'With tables: pages a second that they may write anew' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l stop-after -d 'Stop after this step; sealion resume continues' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l pause-file -d 'Begin no step while this file exists' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l window -d 'Change servers only at these times of the day' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l max-lag -d 'Change servers only while no replica lags more than this' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l accept-unknown-clients -d 'Require TLS of clients even if some may still connect without it'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l accept-shut-out -d 'Shut out clients that the next certificate, CA or profile does not fit'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l accept-unproven -d 'Close the change even if the last check could not prove it'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l allow-untested -d 'Change servers of a version that sealion was not tested with'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l accept-managed -d 'Change files that Ansible, Puppet or another tool writes'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l purge-binary-logs -d 'With logs: remove the binary logs of before'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l skip-openssl-check -d 'Change servers although their OpenSSL has a known fault'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -l take-over -d 'Continue although another sealion holds the lease'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and not __fish_seen_subcommand_from disk" -a "disk" -d 'Replace a key of a LUKS volume of this machine'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -l device -d 'Block device or image with a LUKS header' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -l header -d 'File with the header, where it is detached from its data' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -l state-dir -d 'Directory of the journal; default: in ~/.local/state/sealion/disk, by UUID' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -l key-file -d 'File with the key that is in use now' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -l new-key-file -d 'File with the key that replaces it (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -l backup-dir -d 'Directory for the header backups, on another disk' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -l pbkdf -d 'KDF of the new slot, as for cryptsetup' -r -f -a "argon2id\t''
argon2i\t''
pbkdf2\t''"
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -l pbkdf-force-iterations -d 'Iterations of the new slot, as for cryptsetup; default: measured' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -l yes -d 'Do not ask for confirmation; HASH is the hash that the plan shows' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -l dry-run -d 'Print the plan; change nothing'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -f -a "resume" -d 'Continue a rotation that was interrupted'
complete -c sealion -n "__fish_sealion_using_subcommand rotate; and __fish_seen_subcommand_from disk" -f -a "undo" -d 'Revert a rotation: the old key is put back from its file, then the new slot is removed'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and not __fish_seen_subcommand_from csr import client revoke help" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand trust; and not __fish_seen_subcommand_from csr import client revoke help" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand trust; and not __fish_seen_subcommand_from csr import client revoke help" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand trust; and not __fish_seen_subcommand_from csr import client revoke help" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and not __fish_seen_subcommand_from csr import client revoke help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and not __fish_seen_subcommand_from csr import client revoke help" -f -a "csr" -d 'Make keys for the servers, and requests for their certificates'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and not __fish_seen_subcommand_from csr import client revoke help" -f -a "import" -d 'Take the certificates that a CA has made of these requests'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and not __fish_seen_subcommand_from csr import client revoke help" -f -a "client" -d 'Make a key and a certificate for an application'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and not __fish_seen_subcommand_from csr import client revoke help" -f -a "revoke" -d 'Revoke an application\'s certificate'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and not __fish_seen_subcommand_from csr import client revoke help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from csr" -l out -d 'Directory for the requests; default: the current one' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from csr" -s b -l bits -d 'Use RSA keys of this size, not ECDSA P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from csr" -l ca-passphrase-file -d 'File with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from csr" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from csr" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from csr" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from csr" -l again -d 'Make a new key although a request waits for its certificate'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from csr" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from csr" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from import" -l ca -d 'PEM file with the root of the CA' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from import" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from import" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from import" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from import" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from client" -l out -d 'Directory for NAME-key.pem and NAME-cert.pem; default: the current one' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from client" -l days -d 'Validity in days, not longer than the CA of clients' -r
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from client" -l account -d 'Its account, for the statement that is printed; default: NAME@%' -r
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from client" -s b -l bits -d 'Use an RSA key of this size, not ECDSA P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from client" -l ca-passphrase-file -d 'File with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from client" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from client" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from client" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from client" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from client" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from revoke" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from revoke" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from revoke" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from revoke" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from revoke" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from help" -f -a "csr" -d 'Make keys for the servers, and requests for their certificates'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from help" -f -a "import" -d 'Take the certificates that a CA has made of these requests'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from help" -f -a "client" -d 'Make a key and a certificate for an application'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from help" -f -a "revoke" -d 'Revoke an application\'s certificate'
complete -c sealion -n "__fish_sealion_using_subcommand trust; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand join" -l yes -d 'Do not ask for confirmation; HASH is the hash that the plan shows' -r
complete -c sealion -n "__fish_sealion_using_subcommand join" -l ca-passphrase-file -d 'File with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand join" -l watch-clients-s -d 'Watch client connections for this long before TLS is required of them' -r
complete -c sealion -n "__fish_sealion_using_subcommand join" -l sync-s-max -d 'Wait this long for a restarted node to be Synced' -r
complete -c sealion -n "__fish_sealion_using_subcommand join" -l drain-s-max -d 'Wait this long for sessions to leave a drained node' -r
complete -c sealion -n "__fish_sealion_using_subcommand join" -l leave -d 'With accounts: leave this account as it is' -r
complete -c sealion -n "__fish_sealion_using_subcommand join" -l force -d 'With accounts: require TLS of this account although it is used in cleartext' -r
complete -c sealion -n "__fish_sealion_using_subcommand join" -s b -l bits -d 'Use RSA keys of this size, not ECDSA P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand join" -l leaf-days -d 'Validity of a node\'s certificate in days' -r
complete -c sealion -n "__fish_sealion_using_subcommand join" -l encryption-threads -d 'With tables: threads of InnoDB that encrypt' -r
complete -c sealion -n "__fish_sealion_using_subcommand join" -l encryption-iops -d 'With tables: pages a second that they may write anew' -r
complete -c sealion -n "__fish_sealion_using_subcommand join" -l stop-after -d 'Stop after this step; sealion resume continues' -r
complete -c sealion -n "__fish_sealion_using_subcommand join" -l pause-file -d 'Begin no step while this file exists' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand join" -l window -d 'Change servers only at these times of the day' -r
complete -c sealion -n "__fish_sealion_using_subcommand join" -l max-lag -d 'Change servers only while no replica lags more than this' -r
complete -c sealion -n "__fish_sealion_using_subcommand join" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand join" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand join" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand join" -l accept-unknown-clients -d 'Require TLS of clients even if some may still connect without it'
complete -c sealion -n "__fish_sealion_using_subcommand join" -l accept-shut-out -d 'Shut out clients that the next certificate, CA or profile does not fit'
complete -c sealion -n "__fish_sealion_using_subcommand join" -l accept-unproven -d 'Close the change even if the last check could not prove it'
complete -c sealion -n "__fish_sealion_using_subcommand join" -l allow-untested -d 'Change servers of a version that sealion was not tested with'
complete -c sealion -n "__fish_sealion_using_subcommand join" -l accept-managed -d 'Change files that Ansible, Puppet or another tool writes'
complete -c sealion -n "__fish_sealion_using_subcommand join" -l purge-binary-logs -d 'With logs: remove the binary logs of before'
complete -c sealion -n "__fish_sealion_using_subcommand join" -l skip-openssl-check -d 'Change servers although their OpenSSL has a known fault'
complete -c sealion -n "__fish_sealion_using_subcommand join" -l take-over -d 'Continue although another sealion holds the lease'
complete -c sealion -n "__fish_sealion_using_subcommand join" -l replace-data -d 'Replace the data of the new server, although it holds schemas of users'
complete -c sealion -n "__fish_sealion_using_subcommand join" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand join" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l yes -d 'Do not ask for confirmation; HASH is the hash that the plan shows' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l ca-passphrase-file -d 'File with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l watch-clients-s -d 'Watch client connections for this long before TLS is required of them' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l sync-s-max -d 'Wait this long for a restarted node to be Synced' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l drain-s-max -d 'Wait this long for sessions to leave a drained node' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l leave -d 'With accounts: leave this account as it is' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l force -d 'With accounts: require TLS of this account although it is used in cleartext' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -s b -l bits -d 'Use RSA keys of this size, not ECDSA P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l leaf-days -d 'Validity of a node\'s certificate in days' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l encryption-threads -d 'With tables: threads of InnoDB that encrypt' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l encryption-iops -d 'With tables: pages a second that they may write anew' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l stop-after -d 'Stop after this step; sealion resume continues' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l pause-file -d 'Begin no step while this file exists' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l window -d 'Change servers only at these times of the day' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l max-lag -d 'Change servers only while no replica lags more than this' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l accept-unknown-clients -d 'Require TLS of clients even if some may still connect without it'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l accept-shut-out -d 'Shut out clients that the next certificate, CA or profile does not fit'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l accept-unproven -d 'Close the change even if the last check could not prove it'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l allow-untested -d 'Change servers of a version that sealion was not tested with'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l accept-managed -d 'Change files that Ansible, Puppet or another tool writes'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l purge-binary-logs -d 'With logs: remove the binary logs of before'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l skip-openssl-check -d 'Change servers although their OpenSSL has a known fault'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l take-over -d 'Continue although another sealion holds the lease'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l yes -d 'Do not ask for confirmation; HASH is the hash that the plan shows' -r
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l ca-passphrase-file -d 'File with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l watch-clients-s -d 'Watch client connections for this long before TLS is required of them' -r
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l sync-s-max -d 'Wait this long for a restarted node to be Synced' -r
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l drain-s-max -d 'Wait this long for sessions to leave a drained node' -r
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l stop-after -d 'Stop after this step; sealion resume continues' -r
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l pause-file -d 'Begin no step while this file exists' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l window -d 'Change servers only at these times of the day' -r
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l max-lag -d 'Change servers only while no replica lags more than this' -r
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l accept-unknown-clients -d 'Require TLS of clients even if some may still connect without it'
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l accept-shut-out -d 'Shut out clients that the next certificate, CA or profile does not fit'
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l accept-unproven -d 'Close the change even if the last check could not prove it'
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l take-over -d 'Continue although another sealion holds the lease'
complete -c sealion -n "__fish_sealion_using_subcommand undo" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand diagnose" -l datadir -d 'Data directory, where there is no inventory' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand diagnose" -l error-log -d 'Error log; default: as the inventory or the option files say' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand diagnose" -l key-file -d 'Key file, or keyring of MySQL; default: as the option files say' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand diagnose" -l key-file-pass -d 'File with the passphrase of the key file; default: as the option files say' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand diagnose" -l ca-passphrase-file -d 'File with the passphrase of the CA key (mode 0600), which seals the escrow' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand diagnose" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand diagnose" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand diagnose" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand diagnose" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand diagnose" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and not __fish_seen_subcommand_from list restore drill help" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand keys; and not __fish_seen_subcommand_from list restore drill help" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand keys; and not __fish_seen_subcommand_from list restore drill help" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand keys; and not __fish_seen_subcommand_from list restore drill help" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and not __fish_seen_subcommand_from list restore drill help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and not __fish_seen_subcommand_from list restore drill help" -f -a "list" -d 'List the copies in the escrow, and whether they open'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and not __fish_seen_subcommand_from list restore drill help" -f -a "restore" -d 'Put key file and pass file of a node back, as the escrow has them'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and not __fish_seen_subcommand_from list restore drill help" -f -a "drill" -d 'Prove that the escrow alone opens a copy of the data'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and not __fish_seen_subcommand_from list restore drill help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from list" -l ca-passphrase-file -d 'File with the passphrase of the CA key (mode 0600), which seals the escrow' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from list" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from list" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from list" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from restore" -l entry -d 'Copy of the escrow; default: the newest one whose keys open the data files' -r
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from restore" -l ca-passphrase-file -d 'File with the passphrase of the CA key (mode 0600), which seals the escrow' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from restore" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from restore" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from restore" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from restore" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from drill" -l entry -d 'Copy of the escrow; default: the newest one whose keys open the data files' -r
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from drill" -l dir -d 'Directory for the copy; default: that of temporary files' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from drill" -l ca-passphrase-file -d 'File with the passphrase of the CA key (mode 0600), which seals the escrow' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from drill" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from drill" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from drill" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from drill" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from drill" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the copies in the escrow, and whether they open'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from help" -f -a "restore" -d 'Put key file and pass file of a node back, as the escrow has them'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from help" -f -a "drill" -d 'Prove that the escrow alone opens a copy of the data'
complete -c sealion -n "__fish_sealion_using_subcommand keys; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand abandon" -l yes -d 'Do not ask for confirmation; HASH is the hash that the plan shows' -r
complete -c sealion -n "__fish_sealion_using_subcommand abandon" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand abandon" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand abandon" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand abandon" -l take-over -d 'Continue although another sealion holds the lease'
complete -c sealion -n "__fish_sealion_using_subcommand abandon" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand abandon" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -f -a "list" -d 'List the workloads and the experiments'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -f -a "prepare" -d 'Create and fill the tables of the workloads, in a schema of their own'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -f -a "load" -d 'Measure one workload once'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -f -a "run" -d 'Run an experiment: trials in randomized blocks, with confidence intervals'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -f -a "sysbench" -d 'Run a sysbench command line with sealion\'s load generator'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -f -a "cleanup" -d 'Drop the schema that `prepare` created'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -f -a "runs" -d 'List saved measurements, newest first'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -f -a "show" -d 'Print a saved measurement, or write its HTML page'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -f -a "compare" -d 'Compare two runs of the same experiment'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -f -a "export" -d 'Export every trial of a measurement as CSV, Parquet or JSON'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -f -a "advise" -d 'Estimate a machine\'s capacity with each TLS setting, from measured CPU costs'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from list" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from list" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from list" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l database -d 'Schema of the tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l tables -d 'Number of tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l table-size -d 'Rows in each table' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l seed -d 'Seed of the random numbers; the same seed makes the same rows' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l threads -d 'Tables that are filled in parallel' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l engine -d 'Storage engine; default: the server\'s default' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -s h -l host -d 'Host name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -s P -l port -d 'Port' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -s u -l user -d 'User' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l password-file -d 'Read the password from FILE (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l password-fd -d 'Read the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -s S -l socket -d 'Unix socket' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l defaults-group-suffix -d 'Also read option groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l login-path -d 'Login path of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l ssl-mode -d 'As --ssl-mode of mysql: REQUIRED, VERIFY_CA, ...' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l ssl-ca -d 'CA certificates to verify the server against' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l ssl-crl -d 'Certificate revocation lists of that CA' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l ssl-cert -d 'Client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l ssl-key -d 'Private key of the client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l no-secondary -d 'No index on column k'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l bulk -d 'Empty tables for bulk_insert, one for each connection'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -s p -l password -d 'Prompt for the password'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l ssl -d 'Require TLS, as --ssl of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l skip-ssl -d 'Do not use TLS'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l ssl-verify-server-cert -d 'Verify the certificate and the host name, as the option of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -s ? -l help -d 'Print help; --help prints all options'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l script -d 'Run the statements of FILE' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l replay -d 'Run statements of a general query log, chosen at random' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l time -d 'Measure for this long; default: 10, no limit with --events' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l warm-up -d 'Warm up for this long; auto: until the throughput is stable' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l events -d 'Stop after this many events, or after --time, whichever comes first' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l rate -d 'Start this many events a second (open loop)' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l rate-ramp -d 'Measure at rising rates until the server cannot keep up' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l store -d 'Save the measurement in FILE; default: the cluster\'s store, or your own' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l database -d 'Schema of the tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tables -d 'Number of tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l table-size -d 'Rows in each table' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l seed -d 'Seed of the random numbers; the same seed makes the same rows' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s c -l connections -l threads -d 'Concurrent connections' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l workers -d 'Threads of the load generator; default: two, or one for every four processors if that is more' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l rand-type -d 'Distribution of row IDs: special, uniform, gaussian or pareto' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l range-size -d 'Rows in a range query' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l point-selects -d 'Point selects in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l simple-ranges -d 'Range selects in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l sum-ranges -d 'SELECT SUM() queries in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l order-ranges -d 'Range selects with ORDER BY in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l distinct-ranges -d 'Range selects with DISTINCT in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l index-updates -d 'Updates of an indexed column in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l non-index-updates -d 'Updates of a column without an index in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l delete-inserts -d 'DELETE and INSERT pairs in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tls-min -d 'Lowest TLS version: 1.0 to 1.3' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tls-max -d 'Highest TLS version' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl-cipher -d 'Cipher suites up to TLS 1.2, as OpenSSL names them' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tls-ciphersuites -d 'Cipher suites of TLS 1.3' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tls-groups -d 'Key exchange groups in order of preference (X25519MLKEM768:X25519)' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tls-sigalgs -d 'Signature algorithms in order of preference (ECDSA+SHA256:rsa_pss_rsae_sha256)' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tls-record-bytes -d 'Maximum size of a TLS record that is sent: 32 to 16384' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tls-library -d 'TLS library of the load generator' -r -f -a "openssl\t''
rustls\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l resume -d 'Resume TLS sessions, with --tls-library rustls' -r -f -a "any\t''
session-id\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s h -l host -d 'Host name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s P -l port -d 'Port' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s u -l user -d 'User' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l password-file -d 'Read the password from FILE (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l password-fd -d 'Read the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s S -l socket -d 'Unix socket' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l defaults-group-suffix -d 'Also read option groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l login-path -d 'Login path of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl-mode -d 'As --ssl-mode of mysql: REQUIRED, VERIFY_CA, ...' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl-ca -d 'CA certificates to verify the server against' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl-crl -d 'Certificate revocation lists of that CA' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl-cert -d 'Client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl-key -d 'Private key of the client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l replay-digests -d 'Run samples of the statement digests that performance_schema counted, as often as it counted them'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l no-store -d 'Do not save the measurement'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l own-tables -d 'Allow writes to a schema that sealion did not create'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l no-range-selects -d 'No range queries'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l skip-trx -d 'No BEGIN and COMMIT'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l text-protocol -d 'Send all statements as text, as sysbench does with --db-ps-mode=disable'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s p -l password -d 'Prompt for the password'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl -d 'Require TLS, as --ssl of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l skip-ssl -d 'Do not use TLS'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl-verify-server-cert -d 'Verify the certificate and the host name, as the option of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s ? -l help -d 'Print help; --help prints all options'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l blocks -d 'Blocks, each with one trial an arm' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l precision -d 'Add blocks until ratios are this precise' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l trial-time -d 'Length of a trial in seconds' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l warm-up -d 'Warm-up before each trial in seconds' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l html -d 'Write an HTML page with plots to FILE' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l store -d 'Save the measurement in FILE; default: the cluster\'s store, or your own' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l database -d 'Schema of the tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tables -d 'Number of tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l table-size -d 'Rows in each table' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l seed -d 'Seed of the random numbers; the same seed makes the same rows' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s c -l connections -l threads -d 'Concurrent connections' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l workers -d 'Threads of the load generator; default: two, or one for every four processors if that is more' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l rand-type -d 'Distribution of row IDs: special, uniform, gaussian or pareto' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l range-size -d 'Rows in a range query' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l point-selects -d 'Point selects in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l simple-ranges -d 'Range selects in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l sum-ranges -d 'SELECT SUM() queries in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l order-ranges -d 'Range selects with ORDER BY in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l distinct-ranges -d 'Range selects with DISTINCT in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l index-updates -d 'Updates of an indexed column in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l non-index-updates -d 'Updates of a column without an index in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l delete-inserts -d 'DELETE and INSERT pairs in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tls-min -d 'Lowest TLS version: 1.0 to 1.3' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tls-max -d 'Highest TLS version' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl-cipher -d 'Cipher suites up to TLS 1.2, as OpenSSL names them' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tls-ciphersuites -d 'Cipher suites of TLS 1.3' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tls-groups -d 'Key exchange groups in order of preference (X25519MLKEM768:X25519)' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tls-sigalgs -d 'Signature algorithms in order of preference (ECDSA+SHA256:rsa_pss_rsae_sha256)' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tls-record-bytes -d 'Maximum size of a TLS record that is sent: 32 to 16384' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tls-library -d 'TLS library of the load generator' -r -f -a "openssl\t''
rustls\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l resume -d 'Resume TLS sessions, with --tls-library rustls' -r -f -a "any\t''
session-id\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s h -l host -d 'Host name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s P -l port -d 'Port' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s u -l user -d 'User' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l password-file -d 'Read the password from FILE (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l password-fd -d 'Read the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s S -l socket -d 'Unix socket' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l defaults-group-suffix -d 'Also read option groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l login-path -d 'Login path of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl-mode -d 'As --ssl-mode of mysql: REQUIRED, VERIFY_CA, ...' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl-ca -d 'CA certificates to verify the server against' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl-crl -d 'Certificate revocation lists of that CA' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl-cert -d 'Client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl-key -d 'Private key of the client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l lab -d 'Start servers for the experiment on this machine'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l quick -d 'Short trials for a rough figure'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l no-store -d 'Do not save the measurement'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l own-tables -d 'Allow writes to a schema that sealion did not create'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l no-range-selects -d 'No range queries'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l skip-trx -d 'No BEGIN and COMMIT'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l text-protocol -d 'Send all statements as text, as sysbench does with --db-ps-mode=disable'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s p -l password -d 'Prompt for the password'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl -d 'Require TLS, as --ssl of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l skip-ssl -d 'Do not use TLS'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl-verify-server-cert -d 'Verify the certificate and the host name, as the option of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s ? -l help -d 'Print help; --help prints all options'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l password-file -d 'Read the password from the first line of FILE (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l password-fd -d 'Read the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l store -d 'Save the measurement in FILE; default: the cluster\'s store, or your own' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -s p -l password -d 'Prompt for the password; a password on the command line is refused'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l own-tables -d 'Allow `run` to write to a schema that sealion did not create'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l no-store -d 'Do not save the measurement'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l database -d 'Schema to drop; refused if `prepare` did not create it' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -s h -l host -d 'Host name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -s P -l port -d 'Port' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -s u -l user -d 'User' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l password-file -d 'Read the password from FILE (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l password-fd -d 'Read the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -s S -l socket -d 'Unix socket' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l defaults-group-suffix -d 'Also read option groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l login-path -d 'Login path of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l ssl-mode -d 'As --ssl-mode of mysql: REQUIRED, VERIFY_CA, ...' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l ssl-ca -d 'CA certificates to verify the server against' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l ssl-crl -d 'Certificate revocation lists of that CA' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l ssl-cert -d 'Client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l ssl-key -d 'Private key of the client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -s p -l password -d 'Prompt for the password'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l ssl -d 'Require TLS, as --ssl of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l skip-ssl -d 'Do not use TLS'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l ssl-verify-server-cert -d 'Verify the certificate and the host name, as the option of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -s ? -l help -d 'Print help; --help prints all options'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from runs" -l limit -d 'List at most this many' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from runs" -l store -d 'Search in FILE; default: the cluster\'s store and your own' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from runs" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from runs" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from runs" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from runs" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from runs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from show" -l html -d 'Write an HTML page with plots to FILE' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from show" -l store -d 'Search in FILE; default: the cluster\'s store and your own' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from show" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from show" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from show" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from compare" -l store -d 'Search in FILE; default: the cluster\'s store and your own' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from compare" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from compare" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from compare" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from compare" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from export" -l out -d 'Write to FILE instead of standard output' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from export" -l store -d 'Search in FILE; default: the cluster\'s store and your own' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from export" -l format -d 'Output format' -r -f -a "csv\t''
parquet\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from export" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from export" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from export" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l store -d 'Save the measurement in FILE; default: the cluster\'s store, or your own' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l database -d 'Schema of the tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tables -d 'Number of tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l table-size -d 'Rows in each table' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l seed -d 'Seed of the random numbers; the same seed makes the same rows' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s c -l connections -l threads -d 'Concurrent connections' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l workers -d 'Threads of the load generator; default: two, or one for every four processors if that is more' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l rand-type -d 'Distribution of row IDs: special, uniform, gaussian or pareto' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l range-size -d 'Rows in a range query' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l point-selects -d 'Point selects in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l simple-ranges -d 'Range selects in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l sum-ranges -d 'SELECT SUM() queries in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l order-ranges -d 'Range selects with ORDER BY in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l distinct-ranges -d 'Range selects with DISTINCT in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l index-updates -d 'Updates of an indexed column in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l non-index-updates -d 'Updates of a column without an index in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l delete-inserts -d 'DELETE and INSERT pairs in a transaction' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tls-min -d 'Lowest TLS version: 1.0 to 1.3' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tls-max -d 'Highest TLS version' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl-cipher -d 'Cipher suites up to TLS 1.2, as OpenSSL names them' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tls-ciphersuites -d 'Cipher suites of TLS 1.3' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tls-groups -d 'Key exchange groups in order of preference (X25519MLKEM768:X25519)' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tls-sigalgs -d 'Signature algorithms in order of preference (ECDSA+SHA256:rsa_pss_rsae_sha256)' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tls-record-bytes -d 'Maximum size of a TLS record that is sent: 32 to 16384' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tls-library -d 'TLS library of the load generator' -r -f -a "openssl\t''
rustls\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l resume -d 'Resume TLS sessions, with --tls-library rustls' -r -f -a "any\t''
session-id\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s h -l host -d 'Host name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s P -l port -d 'Port' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s u -l user -d 'User' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l password-file -d 'Read the password from FILE (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l password-fd -d 'Read the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s S -l socket -d 'Unix socket' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l defaults-group-suffix -d 'Also read option groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l login-path -d 'Login path of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl-mode -d 'As --ssl-mode of mysql: REQUIRED, VERIFY_CA, ...' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl-ca -d 'CA certificates to verify the server against' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl-crl -d 'Certificate revocation lists of that CA' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl-cert -d 'Client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl-key -d 'Private key of the client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l no-store -d 'Do not save the measurement'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l own-tables -d 'Allow writes to a schema that sealion did not create'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l no-range-selects -d 'No range queries'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l skip-trx -d 'No BEGIN and COMMIT'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l text-protocol -d 'Send all statements as text, as sysbench does with --db-ps-mode=disable'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s p -l password -d 'Prompt for the password'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl -d 'Require TLS, as --ssl of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l skip-ssl -d 'Do not use TLS'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl-verify-server-cert -d 'Verify the certificate and the host name, as the option of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s ? -l help -d 'Print help; --help prints all options'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the workloads and the experiments'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "prepare" -d 'Create and fill the tables of the workloads, in a schema of their own'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "load" -d 'Measure one workload once'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "run" -d 'Run an experiment: trials in randomized blocks, with confidence intervals'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "sysbench" -d 'Run a sysbench command line with sealion\'s load generator'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "cleanup" -d 'Drop the schema that `prepare` created'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "runs" -d 'List saved measurements, newest first'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print a saved measurement, or write its HTML page'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "compare" -d 'Compare two runs of the same experiment'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "export" -d 'Export every trial of a measurement as CSV, Parquet or JSON'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "advise" -d 'Estimate a machine\'s capacity with each TLS setting, from measured CPU costs'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and not __fish_seen_subcommand_from plan run resume verify cutover finish rollback status" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and not __fish_seen_subcommand_from plan run resume verify cutover finish rollback status" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and not __fish_seen_subcommand_from plan run resume verify cutover finish rollback status" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and not __fish_seen_subcommand_from plan run resume verify cutover finish rollback status" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and not __fish_seen_subcommand_from plan run resume verify cutover finish rollback status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and not __fish_seen_subcommand_from plan run resume verify cutover finish rollback status" -f -a "plan" -d 'Check both servers, and show what would be done; changes nothing'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and not __fish_seen_subcommand_from plan run resume verify cutover finish rollback status" -f -a "run" -d 'Copy, follow, compare, and move the applications\' writes over'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and not __fish_seen_subcommand_from plan run resume verify cutover finish rollback status" -f -a "resume" -d 'Continue a migration that was interrupted'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and not __fish_seen_subcommand_from plan run resume verify cutover finish rollback status" -f -a "verify" -d 'Compare both servers at one and the same transaction, while they are written to'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and not __fish_seen_subcommand_from plan run resume verify cutover finish rollback status" -f -a "cutover" -d 'Move the applications\' writes over, where run has waited before that'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and not __fish_seen_subcommand_from plan run resume verify cutover finish rollback status" -f -a "finish" -d 'End the way back: the source gets nothing any more'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and not __fish_seen_subcommand_from plan run resume verify cutover finish rollback status" -f -a "rollback" -d 'Revert a migration; after the cutover the source has what the target took'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and not __fish_seen_subcommand_from plan run resume verify cutover finish rollback status" -f -a "status" -d 'Show how far a migration is'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l from -d 'Option file of the source, as for mariadb --defaults-file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l to -d 'Option file of the target; for plan also aurora or rds' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l follow-as -d 'Option file of the account that the target replicates with' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l back-as -d 'Option file of the account that the source replicates with, after the cutover' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l schemas -d 'Schemas, all of their tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l sessions -d 'Sessions that copy side by side' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l slice-mb -d 'Copy tables larger than twice this in slices of about this size' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from plan" -l no-way-back -d 'Nothing brings back what the target takes after the cutover'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from plan" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -l from -d 'Option file of the source, as for mariadb --defaults-file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -l to -d 'Option file of the target; for plan also aurora or rds' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -l follow-as -d 'Option file of the account that the target replicates with' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -l back-as -d 'Option file of the account that the source replicates with, after the cutover' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -l schemas -d 'Schemas, all of their tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -l sessions -d 'Sessions that copy side by side' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -l slice-mb -d 'Copy tables larger than twice this in slices of about this size' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -l until -d 'Wait there for migrate cutover' -r -f -a "copy\t'The rows are on the target'
follow\t'The target follows the source'
verify\t'Both are equal'"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -l name -d 'Name of the migration, for its journal' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -l state-dir -d 'Directory of the journal; default: in ~/.local/state/sealion/migrate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -l yes -d 'Do not ask for confirmation; HASH is the hash that the plan shows' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -l no-way-back -d 'Nothing brings back what the target takes after the cutover'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from resume" -l name -d 'Name of the migration, for its journal' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from resume" -l state-dir -d 'Directory of the journal; default: in ~/.local/state/sealion/migrate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from resume" -l yes -d 'Do not ask for confirmation; HASH is the hash that the plan shows' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from resume" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from resume" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from resume" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from resume" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l name -d 'Name of the migration, for its journal' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l state-dir -d 'Directory of the journal; default: in ~/.local/state/sealion/migrate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from verify" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from verify" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from cutover" -l name -d 'Name of the migration, for its journal' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from cutover" -l state-dir -d 'Directory of the journal; default: in ~/.local/state/sealion/migrate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from cutover" -l yes -d 'Do not ask for confirmation; HASH is the hash that the plan shows' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from cutover" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from cutover" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from cutover" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from cutover" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from cutover" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from finish" -l name -d 'Name of the migration, for its journal' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from finish" -l state-dir -d 'Directory of the journal; default: in ~/.local/state/sealion/migrate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from finish" -l yes -d 'Do not ask for confirmation; HASH is the hash that the plan shows' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from finish" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from finish" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from finish" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from finish" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from finish" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from rollback" -l name -d 'Name of the migration, for its journal' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from rollback" -l state-dir -d 'Directory of the journal; default: in ~/.local/state/sealion/migrate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from rollback" -l yes -d 'Do not ask for confirmation; HASH is the hash that the plan shows' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from rollback" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from rollback" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from rollback" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from rollback" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from rollback" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from status" -l name -d 'Name of the migration, for its journal' -r
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from status" -l state-dir -d 'Directory of the journal; default: in ~/.local/state/sealion/migrate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from status" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from status" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from status" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand migrate; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand send" -l from-command -d 'Run CMD by /bin/sh and send what it writes; it must end with 0' -r
complete -c sealion -n "__fish_sealion_using_subcommand send" -l to -d 'Where `sealion receive` listens' -r
complete -c sealion -n "__fish_sealion_using_subcommand send" -l code-file -d 'Read the receiver\'s code from FILE (mode 0600); default: ask for it' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand send" -l connections -d 'Connections side by side; default: one for each processor, at most 4' -r
complete -c sealion -n "__fish_sealion_using_subcommand send" -l cipher -d 'Cipher suite; default: the fastest, by a measurement at both ends' -r -f -a "aes128\t''
aes256\t''
chacha20\t''"
complete -c sealion -n "__fish_sealion_using_subcommand send" -l compress -d 'Compress pieces; auto: while the network is the bottleneck' -r -f -a "auto\t''
zstd\t''
none\t''"
complete -c sealion -n "__fish_sealion_using_subcommand send" -l rate-limit -d 'Send no more than this many bytes a second: 50M is 50 MB/s' -r
complete -c sealion -n "__fish_sealion_using_subcommand send" -l ssl-ca -d 'CA that signed the certificates of both ends' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand send" -l ssl-cert -d 'Certificate of this end, and its chain' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand send" -l ssl-key -d 'Its private key' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand send" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand send" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand send" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand send" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand send" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l into-command -d 'Give what a program writes at the sender to CMD, by /bin/sh; it must end with 0' -r
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l decrypt -d 'Decrypt files of a backup stream that end in .xbcrypt' -r -f -a "AES128\t''
AES192\t''
AES256\t''"
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l encrypt-key-file -d 'File with the key, exactly its bytes (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l archive -d 'Keep the copy in this new encrypted FILE' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l recipient -d 'Public key of age (age1...) that can open the archive; can be repeated' -r
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l key-file -d 'File with a key of 64 hexadecimal digits that can open it (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l listen -d 'Address and port to listen on; 0.0.0.0 is every address of this host' -r
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l code-file -d 'Write the code for the sender into this new FILE (mode 0600) and do not show it' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l ssl-ca -d 'CA that signed the certificates of both ends' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l ssl-cert -d 'Certificate of this end, and its chain' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l ssl-key -d 'Its private key' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l resume -d 'Go on with a copy into DIR that did not end: what is there is compared, and not sent again'
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l to-stdout -d 'Write what a program writes at the sender to standard output'
complete -c sealion -n "__fish_sealion_using_subcommand receive" -l decompress -d 'Decompress files of a backup stream that end in .qp, .zst or .lz4'
complete -c sealion -n "__fish_sealion_using_subcommand receive" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand receive" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand archive; and not __fish_seen_subcommand_from create extract check" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand archive; and not __fish_seen_subcommand_from create extract check" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand archive; and not __fish_seen_subcommand_from create extract check" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand archive; and not __fish_seen_subcommand_from create extract check" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand archive; and not __fish_seen_subcommand_from create extract check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand archive; and not __fish_seen_subcommand_from create extract check" -f -a "create" -d 'Write a directory, or what a program writes, into a new encrypted file'
complete -c sealion -n "__fish_sealion_using_subcommand archive; and not __fish_seen_subcommand_from create extract check" -f -a "extract" -d 'Extract an archive into a directory, or into a program'
complete -c sealion -n "__fish_sealion_using_subcommand archive; and not __fish_seen_subcommand_from create extract check" -f -a "check" -d 'Check every byte of an archive, and list what is in it'
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from create" -l from -d 'Directory; - is standard input' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from create" -l from-command -d 'Run CMD by /bin/sh and keep what it writes; it must end with 0' -r
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from create" -l recipient -d 'Public key of age (age1...) that can open the archive; can be repeated' -r
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from create" -l key-file -d 'File with a key of 64 hexadecimal digits that can open it (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from create" -l cipher -d 'Cipher; default: the faster one on this host' -r -f -a "aes256\t''
chacha20\t''"
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from create" -l compress -d 'Compression; pieces that would not become smaller are kept as they are' -r -f -a "zstd\t''
none\t''"
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from create" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from create" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from create" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from extract" -l into -d 'Directory, which is not there yet, or empty' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from extract" -l identity -d 'File with a secret key of age, as age-keygen writes it (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from extract" -l key-file -d 'File with the key that the archive was made with (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from extract" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from extract" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from extract" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from extract" -l to-stdout -d 'Write what a program wrote to standard output'
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from extract" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from extract" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from check" -l identity -d 'File with a secret key of age, as age-keygen writes it (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from check" -l key-file -d 'File with the key that the archive was made with (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from check" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from check" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from check" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from check" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand archive; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand xbcrypt" -s a -l encrypt-algo -d 'Algorithm: nothing in the file tells' -r -f -a "AES128\t''
AES192\t''
AES256\t''"
complete -c sealion -n "__fish_sealion_using_subcommand xbcrypt" -s f -l encrypt-key-file -d 'File with the key, exactly its bytes (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand xbcrypt" -s i -l input -d 'Read FILE; default: standard input' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand xbcrypt" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand xbcrypt" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand xbcrypt" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand xbcrypt" -s d -l decrypt -d 'Decrypt; default: encrypt'
complete -c sealion -n "__fish_sealion_using_subcommand xbcrypt" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand xbcrypt" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -s C -l directory -d 'Directory to extract into, which is not there yet, or empty' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -l input -d 'Read the stream from FILE; default: standard input' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -l decrypt -d 'Decrypt files of a backup stream that end in .xbcrypt' -r -f -a "AES128\t''
AES192\t''
AES256\t''"
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -l encrypt-key-file -d 'File with the key, exactly its bytes (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -l parallel -d 'With -x: files that are written side by side; default: one for each processor' -r
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -s x -l extract -d 'Extract a stream into a directory'
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -s c -l create -d 'Write files to standard output as a stream'
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -s u -l unwrap -d 'Decrypt and decompress files on the disk, each into a new one beside it'
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -s t -l list -d 'List the files in a stream, and check its checksums'
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -l decompress -d 'With -x: decompress files that end in .qp, .zst or .lz4'
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -l no-sync -d 'With -x: do not wait until all is on the disk: a crash of the host right after it can lose files'
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand xbstream" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -f -a "init" -d 'Make the keys of an owner, who shares tables'
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -f -a "identity" -d 'Make the keys of a reader, or show their public part'
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -f -a "fingerprint" -d 'Show the fingerprint of a public key, to compare it before it is used'
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -f -a "create" -d 'Write rows of a table, or a dump, into an encrypted archive'
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -f -a "grant" -d 'Allow a reader to open an archive, until a date and so many times'
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -f -a "proxy" -d 'Run a proxy, which keeps shares and gives them to readers'
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -f -a "open" -d 'Open an archive as its reader'
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -f -a "revoke" -d 'End a grant: the proxies give nothing more'
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -f -a "list" -d 'List grants, and what their proxies say of them'
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -f -a "audit" -d 'Show the logs of the proxies, and whether they are whole'
complete -c sealion -n "__fish_sealion_using_subcommand share; and not __fish_seen_subcommand_from init identity fingerprint create grant proxy open revoke list audit verify" -f -a "verify" -d 'Check an archive: whose it is, who may open it, whether it is whole'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from init" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from init" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from init" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from init" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from identity" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from identity" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from identity" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from identity" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from identity" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from fingerprint" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from fingerprint" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from fingerprint" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from fingerprint" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from fingerprint" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l keys -d 'Directory of the owner\'s keys, from share init' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l table -d 'Table, as SCHEMA.TABLE' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l where -d 'Only rows for which this is true, as behind WHERE' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l stdin -d 'What comes on standard input, under this name, in place of a table' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l columns -d 'Only these columns, in this order' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l out -d 'Archive to write, which is not there yet' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -s h -l host -d 'Host name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -s P -l port -d 'Port' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -s u -l user -d 'User' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l password-file -d 'Read the password from FILE (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l password-fd -d 'Read the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -s S -l socket -d 'Unix socket' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l defaults-group-suffix -d 'Also read option groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l login-path -d 'Login path of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l ssl-mode -d 'As --ssl-mode of mysql: REQUIRED, VERIFY_CA, ...' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l ssl-ca -d 'CA certificates to verify the server against' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l ssl-crl -d 'Certificate revocation lists of that CA' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l ssl-cert -d 'Client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l ssl-key -d 'Private key of the client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -s p -l password -d 'Prompt for the password'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l ssl -d 'Require TLS, as --ssl of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l skip-ssl -d 'Do not use TLS'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -l ssl-verify-server-cert -d 'Verify the certificate and the host name, as the option of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -s ? -l help -d 'Print help; --help prints all options'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from grant" -l keys -d 'Directory of the owner\'s keys' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from grant" -l reader -d 'The reader\'s public.json' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from grant" -l until -d 'Last day (2026-12-04), or time (2026-12-04T18:00:00Z)' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from grant" -l max-opens -d 'How often each proxy gives its share' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from grant" -l need -d 'How many of the proxies the reader needs' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from grant" -l proxy -d 'A proxy; once for each' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from grant" -l proxies -d 'File of proxies, one a line; empty lines and those that begin with # are skipped' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from grant" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from grant" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from grant" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from grant" -l for-good -d 'Without proxies: no date, no count, and no way back'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from grant" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from grant" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from proxy" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from proxy" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from proxy" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from proxy" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from proxy" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from proxy" -f -a "serve" -d 'Serve grants of one owner over HTTPS, until Ctrl-C'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from open" -l keys -d 'Directory of the reader\'s keys, from share identity' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from open" -l owner -d 'The owner\'s public.json; an archive of anybody else is refused' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from open" -l out -d 'File for what is in it, which is not there yet (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from open" -l grant -d 'Grant, or the beginning of its id; default: the newest for these keys' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from open" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from open" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from open" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from open" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from open" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from revoke" -l keys -d 'Directory of the owner\'s keys' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from revoke" -l archive -d 'Archive that has the grant, or the file of a standing one, where the list beside the keys does not have it any more' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from revoke" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from revoke" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from revoke" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from revoke" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from revoke" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from list" -l keys -d 'Directory of the owner\'s keys' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from list" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from list" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from list" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from audit" -l keys -d 'Directory of the owner\'s keys' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from audit" -l grant -d 'Grant whose lines are shown, or the beginning of its id; default: all' -r
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from audit" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from audit" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from audit" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from audit" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from audit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from verify" -l owner -d 'The owner\'s public.json' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from verify" -l keys -d 'Directory of the owner\'s keys: every chunk is looked at' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from verify" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from verify" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from verify" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from verify" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand share; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive help" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive help" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive help" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive help" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive help" -f -a "up" -d 'Start a cluster on loopback and leave it running'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive help" -f -a "exec" -d 'Run a program inside the lab'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive help" -f -a "status" -d 'Show the lab\'s servers'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive help" -f -a "down" -d 'Stop the lab and remove its files'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive help" -f -a "fetch" -d 'Download a server into sealion\'s cache; needs no root'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive help" -f -a "start" -d 'Start a node'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive help" -f -a "stop" -d 'Stop a node'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive help" -f -a "kill" -d 'Kill a node, as a power failure would'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive help" -f -a "alive" -d 'Exit 0 while a node\'s process runs'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l nodes -d 'Number of nodes; default: 3 of Galera, 2 with replicas' -r
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l spare -d 'Lay out so many further nodes that are no members: for sealion join' -r
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l server -d 'Whose servers, of replicas' -r -f -a "mariadb\t''
mysql\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l sst -d 'SST method of joiners; default: rsync, or mariabackup with --relay' -r -f -a "rsync\t''
mariabackup\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l provider-option -d 'One more of wsrep_provider_options, for every node and arbitrator; may be repeated' -r
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l dir -d 'Directory of the lab' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l tls -d 'Enable TLS'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l system -d 'Use the servers that are installed on this system'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l no-namespace -d 'Use the host\'s loopback interface, not a network namespace'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l relay -d 'Observe traffic through relays, as is done where packets may not be captured'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l hosts -d 'Make each node a host of its own, with a network and a sshd, and reach it by ssh only'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l arbitrator -d 'Add an arbitrator (garbd) to the cluster'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l proxy -d 'With --hosts: one more host, with HAProxy in front of the nodes (port 3306)'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from exec" -l dir -d 'Directory of the lab' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from exec" -l host -d 'Of a lab with --hosts, where to run it: n1, n2, ..., proxy, or app, the host of applications; default: at the operator\'s' -r
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from exec" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from exec" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from exec" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from exec" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from exec" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from status" -l dir -d 'Directory of the lab' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from status" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from status" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from status" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from down" -l dir -d 'Directory of the lab' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from down" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from down" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from down" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from down" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from down" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from fetch" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from fetch" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from fetch" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from fetch" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from fetch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from start" -l dir -d 'Directory of the lab' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from start" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from start" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from start" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from start" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from start" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from stop" -l dir -d 'Directory of the lab' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from stop" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from stop" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from stop" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from stop" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from kill" -l dir -d 'Directory of the lab' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from kill" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from kill" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from kill" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from kill" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from kill" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from alive" -l dir -d 'Directory of the lab' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from alive" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from alive" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from alive" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from alive" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from alive" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "up" -d 'Start a cluster on loopback and leave it running'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "exec" -d 'Run a program inside the lab'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "status" -d 'Show the lab\'s servers'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "down" -d 'Stop the lab and remove its files'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "fetch" -d 'Download a server into sealion\'s cache; needs no root'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "start" -d 'Start a node'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "stop" -d 'Stop a node'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "kill" -d 'Kill a node, as a power failure would'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "alive" -d 'Exit 0 while a node\'s process runs'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand report" -l html -d 'Write the report as an HTML page to FILE' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand report" -l run -d 'Print one run with everything it recorded, as JSON' -r
complete -c sealion -n "__fish_sealion_using_subcommand report" -l limit -d 'List at most this many runs' -r
complete -c sealion -n "__fish_sealion_using_subcommand report" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand report" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand report" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand report" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand agent" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand agent" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand agent" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand agent" -l read -d 'Look only: files, processes, captures'
complete -c sealion -n "__fish_sealion_using_subcommand agent" -l write -d 'Write files, and start and stop services, too'
complete -c sealion -n "__fish_sealion_using_subcommand agent" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand agent" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand config; and not __fish_seen_subcommand_from print inventory help" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and not __fish_seen_subcommand_from print inventory help" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand config; and not __fish_seen_subcommand_from print inventory help" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand config; and not __fish_seen_subcommand_from print inventory help" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand config; and not __fish_seen_subcommand_from print inventory help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand config; and not __fish_seen_subcommand_from print inventory help" -f -a "print" -d 'Print the effective options, with the file and line that set each'
complete -c sealion -n "__fish_sealion_using_subcommand config; and not __fish_seen_subcommand_from print inventory help" -f -a "inventory" -d 'Draft a sealion.toml for a whole cluster, found from one of its servers'
complete -c sealion -n "__fish_sealion_using_subcommand config; and not __fish_seen_subcommand_from print inventory help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -l defaults-file -d 'Read only this file and the files it includes' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -l defaults-extra-file -d 'Read this file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -l defaults-group-suffix -d 'Also read groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -s g -l group -d 'Group to read; may be repeated. Default: those that a MariaDB server reads' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l out -d 'Write the draft to this new FILE; default: print it' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -s h -l host -d 'Host name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -s P -l port -d 'Port' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -s u -l user -d 'User' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l password-file -d 'Read the password from FILE (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l password-fd -d 'Read the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -s S -l socket -d 'Unix socket' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l defaults-group-suffix -d 'Also read option groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l login-path -d 'Login path of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l ssl-mode -d 'As --ssl-mode of mysql: REQUIRED, VERIFY_CA, ...' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l ssl-ca -d 'CA certificates to verify the server against' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l ssl-crl -d 'Certificate revocation lists of that CA' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l ssl-cert -d 'Client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l ssl-key -d 'Private key of the client certificate' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l trust-found -d 'Send the password also to servers that were found and are not verified, if they request it'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -s p -l password -d 'Prompt for the password'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l ssl -d 'Require TLS, as --ssl of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l skip-ssl -d 'Do not use TLS'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l ssl-verify-server-cert -d 'Verify the certificate and the host name, as the option of mariadb'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -s ? -l help -d 'Print help; --help prints all options'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "print" -d 'Print the effective options, with the file and line that set each'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "inventory" -d 'Draft a sealion.toml for a whole cluster, found from one of its servers'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand grants" -l flavour -d 'Only the statements for this flavour' -r -f -a "mariadb\t''
mysql\t''"
complete -c sealion -n "__fish_sealion_using_subcommand grants" -l account -d 'Account to create, as user@host' -r
complete -c sealion -n "__fish_sealion_using_subcommand grants" -l host-user -d 'User of ssh on the hosts' -r
complete -c sealion -n "__fish_sealion_using_subcommand grants" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand grants" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand grants" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand grants" -l sudoers -d 'Print only the lines for sudoers on the hosts'
complete -c sealion -n "__fish_sealion_using_subcommand grants" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand grants" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand explain" -l format -d 'Output format' -r -f -a "table\t''
json\t''"
complete -c sealion -n "__fish_sealion_using_subcommand explain" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand explain" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand explain" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand completions" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand completions" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand completions" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand completions" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand man" -l inventory -d 'Inventory file of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand man" -l format -r -f -a "table\t''
json\t''
line\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand man" -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand man" -s v -l verbose -d 'Print more details; -vv prints everything'
complete -c sealion -n "__fish_sealion_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "demo" -d 'Start a Galera cluster in cleartext, enable TLS under load, prove it, and write a report'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "scan" -d 'Scan the TLS of MySQL and MariaDB servers from outside, without a password'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "audit" -d 'Audit servers from inside: settings, sessions, accounts, replication'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "prove" -d 'Test clients, settings and traffic against attacks'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "status" -d 'Show what is configured, what is effective, and what was captured on each link'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "watch" -d 'Check again and again; report to Prometheus what is plain, unknown, or ends soon'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "watch-clients" -d 'Watch for a while who uses the servers, and who in cleartext'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "web" -d 'Show what `sealion watch` keeps, in a browser on this machine'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "plan" -d 'Show what a change would do; changes nothing'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "apply" -d 'Apply a plan that was saved with `plan --format json`'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "enable" -d 'Enable TLS on running servers, one after the other'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "disable" -d 'Disable TLS on running servers, one after the other'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "rotate" -d 'Replace certificates and keys of running servers, and the CA'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "trust" -d 'Use certificates of another CA than the cluster\'s own: request and import them'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "join" -d 'Make a new server a member of an encrypted Galera cluster'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "resume" -d 'Finish a change that was interrupted'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "undo" -d 'Revert the newest change'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "diagnose" -d 'Say why a server or a table does not open, as far as keys of data at rest are the cause'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "keys" -d 'Copies of the keys of data at rest: list them, restore them, prove them'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "abandon" -d 'Close an unfinished change as it is, and print what is left in which state'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "bench" -d 'Measure what a server can do, and what encryption costs'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "migrate" -d 'Move schemas from one server to another while applications write'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "send" -d 'Copy a directory, or what a program writes, to another host, encrypted'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "receive" -d 'Wait for a copy from `sealion send`, and write it'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "archive" -d 'Keep a directory, or what a program writes, in an encrypted file'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "xbcrypt" -d 'Encrypt and decrypt as xbcrypt of XtraBackup does'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "xbstream" -d 'Extract, list or write backup streams of mariabackup and XtraBackup'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "share" -d 'Share a table in an encrypted archive, until a date, through proxies that see nothing'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "lab" -d 'Run real servers on loopback'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "report" -d 'List saved runs, or show a report.json'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "agent" -d 'Answer for this machine on standard input and output: what sealion starts by ssh'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "config" -d 'Print effective options, or draft an inventory'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "grants" -d 'Print the privileges that a command needs: GRANT statements and lines for sudoers'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "explain" -d 'Explain a rule: what it means, why it matters, how to fix it'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "completions" -d 'Print shell completions'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "man" -d 'Write man pages, one file a command'
complete -c sealion -n "__fish_sealion_using_subcommand help; and not __fish_seen_subcommand_from demo scan audit prove status watch watch-clients web plan apply enable disable rotate trust join resume undo diagnose keys abandon bench migrate send receive archive xbcrypt xbstream share lab report agent config grants explain completions man help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from scan" -f -a "worker" -d 'Scan targets for others: take them from a queue, and hand the results in'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from prove" -f -a "client" -d 'Test one client against man-in-the-middle attacks, using a rogue server'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from prove" -f -a "clients" -d 'Test database drivers and tools, in every TLS mode they have'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from prove" -f -a "config" -d 'Check the database connections in application settings'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from prove" -f -a "serve" -d 'Run the rogue server, one port for each attack, and report what clients give away'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from prove" -f -a "sniff" -d 'Report what can be read from a capture file or a network interface'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from prove" -f -a "relay" -d 'Run a relay between a client and a real server, passive or as an attacker'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from prove" -f -a "disk" -d 'Write canaries to a running server and search its files for them'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from prove" -f -a "tour" -d 'Demonstrate the classic attacks on real servers, and what stops each'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from prove" -f -a "list" -d 'List the attacks'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from status" -f -a "rest" -d 'Show what the files of a data directory hold: encrypted, plain, or both'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from status" -f -a "disk" -d 'Show what lies below a data directory, and what a LUKS header says'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from rotate" -f -a "disk" -d 'Replace a key of a LUKS volume of this machine'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from trust" -f -a "csr" -d 'Make keys for the servers, and requests for their certificates'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from trust" -f -a "import" -d 'Take the certificates that a CA has made of these requests'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from trust" -f -a "client" -d 'Make a key and a certificate for an application'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from trust" -f -a "revoke" -d 'Revoke an application\'s certificate'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from keys" -f -a "list" -d 'List the copies in the escrow, and whether they open'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from keys" -f -a "restore" -d 'Put key file and pass file of a node back, as the escrow has them'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from keys" -f -a "drill" -d 'Prove that the escrow alone opens a copy of the data'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "list" -d 'List the workloads and the experiments'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "prepare" -d 'Create and fill the tables of the workloads, in a schema of their own'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "load" -d 'Measure one workload once'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "run" -d 'Run an experiment: trials in randomized blocks, with confidence intervals'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "sysbench" -d 'Run a sysbench command line with sealion\'s load generator'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "cleanup" -d 'Drop the schema that `prepare` created'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "runs" -d 'List saved measurements, newest first'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "show" -d 'Print a saved measurement, or write its HTML page'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "compare" -d 'Compare two runs of the same experiment'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "export" -d 'Export every trial of a measurement as CSV, Parquet or JSON'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "advise" -d 'Estimate a machine\'s capacity with each TLS setting, from measured CPU costs'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from migrate" -f -a "plan" -d 'Check both servers, and show what would be done; changes nothing'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from migrate" -f -a "run" -d 'Copy, follow, compare, and move the applications\' writes over'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from migrate" -f -a "resume" -d 'Continue a migration that was interrupted'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from migrate" -f -a "verify" -d 'Compare both servers at one and the same transaction, while they are written to'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from migrate" -f -a "cutover" -d 'Move the applications\' writes over, where run has waited before that'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from migrate" -f -a "finish" -d 'End the way back: the source gets nothing any more'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from migrate" -f -a "rollback" -d 'Revert a migration; after the cutover the source has what the target took'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from migrate" -f -a "status" -d 'Show how far a migration is'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from archive" -f -a "create" -d 'Write a directory, or what a program writes, into a new encrypted file'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from archive" -f -a "extract" -d 'Extract an archive into a directory, or into a program'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from archive" -f -a "check" -d 'Check every byte of an archive, and list what is in it'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from share" -f -a "init" -d 'Make the keys of an owner, who shares tables'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from share" -f -a "identity" -d 'Make the keys of a reader, or show their public part'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from share" -f -a "fingerprint" -d 'Show the fingerprint of a public key, to compare it before it is used'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from share" -f -a "create" -d 'Write rows of a table, or a dump, into an encrypted archive'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from share" -f -a "grant" -d 'Allow a reader to open an archive, until a date and so many times'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from share" -f -a "proxy" -d 'Run a proxy, which keeps shares and gives them to readers'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from share" -f -a "open" -d 'Open an archive as its reader'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from share" -f -a "revoke" -d 'End a grant: the proxies give nothing more'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from share" -f -a "list" -d 'List grants, and what their proxies say of them'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from share" -f -a "audit" -d 'Show the logs of the proxies, and whether they are whole'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from share" -f -a "verify" -d 'Check an archive: whose it is, who may open it, whether it is whole'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "up" -d 'Start a cluster on loopback and leave it running'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "exec" -d 'Run a program inside the lab'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "status" -d 'Show the lab\'s servers'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "down" -d 'Stop the lab and remove its files'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "fetch" -d 'Download a server into sealion\'s cache; needs no root'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "start" -d 'Start a node'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "stop" -d 'Stop a node'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "kill" -d 'Kill a node, as a power failure would'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "alive" -d 'Exit 0 while a node\'s process runs'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "print" -d 'Print the effective options, with the file and line that set each'
complete -c sealion -n "__fish_sealion_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "inventory" -d 'Draft a sealion.toml for a whole cluster, found from one of its servers'
