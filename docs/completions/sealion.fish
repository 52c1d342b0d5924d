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

complete -c sealion -n "__fish_sealion_needs_command" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_needs_command" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_needs_command" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_needs_command" -s V -l version -d 'Print version'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "demo" -d 'A real three-node cluster from clear text to proven TLS, with a report'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "scan" -d 'The TLS of anything that speaks MySQL, seen from outside, without a password'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "prove" -d 'What an attacker on the path would get from your own client, tried on a rogue server'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "status" -d 'What is configured, what is effective, what is seen'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "plan" -d 'What a change would do; changes nothing'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "apply" -d 'Apply a plan that was saved with `plan --format json`'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "enable" -d 'Turn TLS on while the cluster serves'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "disable" -d 'Turn TLS off while the cluster serves'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "rotate" -d 'New certificates without a restart'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "resume" -d 'Finish a change that was interrupted'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "undo" -d 'Go back to what was before the newest change'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "abandon" -d 'Close an open change as it is, and print what is left how'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "bench" -d 'What a server can do, and what encryption costs it'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "lab" -d 'Real servers on loopback'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "report" -d 'Kept runs, or the page of a report.json'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "config" -d 'Effective options with the file and line that set each'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "explain" -d 'What a rule means, why it matters, how to mend it'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "completions" -d 'Shell completions'
complete -c sealion -n "__fish_sealion_needs_command" -f -a "man" -d 'Man pages, one file a command'
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l out -d 'Where report.html and report.json go' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l sst -d 'How joiners get their data: rsync, or mariabackup where relays look, since none can stand before rsync\'s daemon' -r -f -a "rsync\t''
mariabackup\t''"
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l keep -d 'Leave the cluster up and print how to connect'
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l full -d 'Also rotate, disable, undo, and enable again'
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l system -d 'Use the servers that the system has installed'
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l no-namespace -d 'Use the host\'s loopback, not a namespace of its own'
complete -c sealion -n "__fish_sealion_using_subcommand demo" -l relay -d 'Look through relays in front of the ports, as is done where packets may not be captured'
complete -c sealion -n "__fish_sealion_using_subcommand demo" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand demo" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l targets-file -d 'More targets, one on a line; - reads them from stdin' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l authorized-range -d 'Ranges that may be scanned, one on a line; nothing outside of them is dialled. Without it no range is scanned' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l resume -d 'Complete a scan that was ended: the JSON that it left, with the targets and settings in it' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l out -d 'Write the JSON to this file, whatever --format says; also when Ctrl-C ends the scan' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l html -d 'Write a page for people to this file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l baseline -d 'Show only what has changed since this JSON was written; --fail-on judges only what is new' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l intrusive -d 'Also ask what may harm an old server: Heartbleed, early CCS, ROBOT, or only those of LIST. A server with such a fault may hand out bytes of its memory over it, or end. Up to 17 connections more a port' -r -f -a "heartbleed\t''
ccs\t''
robot\t''
login\t'One login as "sealion_scan", refused and logged: is the RSA key of the password plugins offered in clear text?'"
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l max-handshakes -d 'Connections that may be made to one address in a day; servers turn a host away at 100 by default' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l rate -d 'New connections a second over all targets' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l at-once -d 'Targets that are asked at once; each has one connection at a time' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l timeout-ms -d 'Give one connection up after this long' -r
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l proxy-protocol -d 'Send a PROXY header with our own address first, for servers that expect one of their load balancer' -r -f -a "v1\t''
v2\t''"
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l ssl-ca -d 'CAs that the chains must lead to; the system\'s are tried too' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l fail-on -d 'Exit with 1 when a finding of this severity failed, with 3 when one could not be judged or a target not be looked at. What is accepted in sealion.toml does not count until it expires' -r -f -a "info\t''
low\t''
medium\t''
high\t''
critical\t''"
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l full -d 'Every suite, group and signature scheme: up to 65 connections a port instead of 35'
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l first -d 'Only the greeting, one handshake and the certificate'
complete -c sealion -n "__fish_sealion_using_subcommand scan" -l forget-budget -d 'Forget first how many connections were made: the servers have forgotten them too, by a good login from this host or a flush of their host cache'
complete -c sealion -n "__fish_sealion_using_subcommand scan" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand scan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay tour list" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay tour list" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay tour list" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay tour list" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay tour list" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay tour list" -f -a "client" -d 'Run a client against every attack, and say what it gave away'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay tour list" -f -a "clients" -d 'Try drivers and tools, in every way that their TLS can be set'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay tour list" -f -a "config" -d 'Read the settings of applications, and say what each connection in them would give away'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay tour list" -f -a "serve" -d 'Listen for clients, one port per attack, and say what each gave away'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay tour list" -f -a "sniff" -d 'Say what an eavesdropper reads, from a capture file or an interface'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay tour list" -f -a "relay" -d 'Stand between a client and a real server: listen, or strip TLS, substitute the RSA key, change a result'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay tour list" -f -a "tour" -d 'Play the classic attacks on real servers of our own: each succeeding, what stops it, and each failing'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and not __fish_seen_subcommand_from client clients config serve sniff relay tour list" -f -a "list" -d 'The attacks, and what helps against each'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l case -d 'Only this attack (`sealion prove list`); may be given several times, or several with commas between them' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l host -d 'What clients connect to, "localhost" when left out; it stands in the certificates that are right' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l authorized-bind -d 'Listen on this address instead of 127.0.0.1. Whoever reaches it can be attacked: only where you may' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l timeout-s -d 'End one run of the client after this long' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l namespace -d 'In a network of its own, with a routable address and a name: some libraries check less for localhost'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -l stream -d 'The client speaks first, TLS from its first byte or bytes of its own: an SST donor, socat, stunnel'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from client" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l only -d 'Only this client (its id); may be given several times, or several with commas between them' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l case -d 'These attacks as columns (`sealion prove list`), in place of strip and certificates; the honest server comes first' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l dir -d 'Where clients are installed; sealion\'s cache when left out' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l page -d 'Also write the matrix as a page of markdown, and as data for `prove config` beside it (its name with .json). Without --case it has a second table: attacks on the login, on the default and on the strictest way' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l timeout-s -d 'End one run of a client after this long' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l install -d 'Install what is not there, from the registry of its language'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l no-namespace -d 'On the host\'s loopback instead of a network of its own; some libraries check less there'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -l by-address -d 'Have clients connect to an address in place of a name: libraries look for those in other ways'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from clients" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l driver -d 'The driver of URLs that do not name theirs (mysql://)' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l matrix -d 'Predict from this run of `prove clients --format json` instead of the one that is built in' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l fail-on -d 'Exit with 1 when a connection is as bad as this, with 3 when something is unknown' -r -f -a "info\t''
low\t''
medium\t''
high\t''
critical\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l dir -d 'Where drivers are installed; sealion\'s cache when left out' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l timeout-s -d 'End one run of a driver after this long' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l confirm -d 'Also run each driver with these settings against the rogue server, and compare'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l install -d 'Install drivers that are not there, from the registry of their language'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -l no-namespace -d 'On the host\'s loopback instead of a network of its own; some libraries check less there'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from config" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l case -d 'Only this attack (`sealion prove list`); may be given several times, or several with commas between them' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l host -d 'What clients connect to, "localhost" when left out; it stands in the certificates that are right' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l authorized-bind -d 'Listen on this address instead of 127.0.0.1. Whoever reaches it can be attacked: only where you may' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l port -d 'Port of the first attack, the others follow; the kernel chooses when left out' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -l namespace -d 'In a network of its own, with a routable address and a name: some libraries check less for localhost'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from serve" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l iface -d 'Listen on this network interface instead' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l seconds -d 'Listen for so long; until Ctrl-C when left out' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l port -d 'MySQL also listens here; may be given several times. A greeting is recognised on any port' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l canary -d 'Also look for this text, and say where it stood; may be given several times. It is never shown again' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l canary-file -d 'The same for each line of a file, for what should not stand in a list of processes' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l limit -d 'Show so many connections, the worst first' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -l fail-on-clear -d 'End with 1 when something readable was seen'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from sniff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l to -d 'The real server: HOST:PORT, or the path of its unix socket' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l listen -d 'Where clients are to connect to: a port of 127.0.0.1 (the kernel chooses one when left out), or a path for a unix socket' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l authorized-bind -d 'Listen on this address instead of 127.0.0.1. Whoever reaches it can be attacked: only where you may' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l change-result -d 'Change a marked value of results on its way to the client' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l password-file -d 'The first line of this file is the password that what is obtained is compared with; it is not kept' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l canary -d 'Also look for this text, and say where it stood; may be given several times. It is never shown again' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l canary-file -d 'The same for each line of a file, for what should not stand in a list of processes' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l seconds -d 'End after so long; on Ctrl-C when left out' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l strip -d 'Take the offer of TLS out of the server\'s greeting'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l substitute-key -d 'Show an RSA key of our own where a password is to be encrypted (caching_sha2_password, sha256_password)'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -l fail-on-clear -d 'End with 1 when something readable was seen'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from relay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -l only -d 'Only this part (its id); may be given several times, or several with commas between them' -r
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -l html -d 'Also write a page to teach from' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -l out -d 'Also write what `--format json` prints' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from tour" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from list" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from list" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand prove; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand status" -s h -l host -d 'Name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand status" -s P -l port -r
complete -c sealion -n "__fish_sealion_using_subcommand status" -s u -l user -r
complete -c sealion -n "__fish_sealion_using_subcommand status" -l password-file -d 'Take the password from the first line of a file that only you can read' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status" -l password-fd -d 'Take the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand status" -s S -l socket -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status" -l defaults-group-suffix -d 'Also read groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand status" -l login-path -d 'Group of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand status" -l ssl-mode -d 'DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY' -r
complete -c sealion -n "__fish_sealion_using_subcommand status" -l ssl-ca -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status" -l ssl-crl -d 'What that CA has revoked' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status" -l ssl-cert -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status" -l ssl-key -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status" -l look-ms -d 'Watch the wire for this long; 0 does not' -r
complete -c sealion -n "__fish_sealion_using_subcommand status" -l fail-on -d 'Exit with 1 when a finding of this severity failed, with 3 when one could not be judged' -r -f -a "info\t''
low\t''
medium\t''
high\t''
critical\t''"
complete -c sealion -n "__fish_sealion_using_subcommand status" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand status" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand status" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand status" -s p -l password -d 'Ask for the password; it is never taken from the command line'
complete -c sealion -n "__fish_sealion_using_subcommand status" -l ssl -d 'TLS or nothing, as mariadb\'s --ssl'
complete -c sealion -n "__fish_sealion_using_subcommand status" -l skip-ssl
complete -c sealion -n "__fish_sealion_using_subcommand status" -l ssl-verify-server-cert -d 'Check chain and name, as mariadb\'s option of that name'
complete -c sealion -n "__fish_sealion_using_subcommand status" -s ? -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand status" -l canaries -d 'Write a canary row on every node meanwhile (schema sealion_canary, removed again)'
complete -c sealion -n "__fish_sealion_using_subcommand status" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l ca-passphrase-file -d 'The file with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand plan" -s b -l bits -d 'RSA keys of this size instead of P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l leaf-days -d 'Days until a node\'s certificate expires' -r
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l watch-clients-s -d 'Seconds for which client connections are watched before cleartext is refused; clients that connect less often are not seen' -r
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l sync-s-max -d 'Upper bound for a restarted node to be Synced again; a running state transfer is waited for' -r
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l drain-s-max -d 'Upper bound for sessions to leave a drained node' -r
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l allow-untested -d 'Change servers of a version that we have not run ourselves'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l accept-unknown-clients -d 'Refuse clear text though it could not be seen whether clients still use it'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -l accept-unproven -d 'Close the change although the last check could not prove it; that stays in `status` and in the journal'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand plan" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l yes -d 'Do not ask; HASH is the plan\'s, as `sealion plan` prints it' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l ca-passphrase-file -d 'The file with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand apply" -s b -l bits -d 'RSA keys of this size instead of P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l leaf-days -d 'Days until a node\'s certificate expires' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l watch-clients-s -d 'Seconds for which client connections are watched before cleartext is refused; clients that connect less often are not seen' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l sync-s-max -d 'Upper bound for a restarted node to be Synced again; a running state transfer is waited for' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l drain-s-max -d 'Upper bound for sessions to leave a drained node' -r
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l allow-untested -d 'Change servers of a version that we have not run ourselves'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l accept-unknown-clients -d 'Refuse clear text though it could not be seen whether clients still use it'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -l accept-unproven -d 'Close the change although the last check could not prove it; that stays in `status` and in the journal'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand apply" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l yes -d 'Do not ask; HASH is the plan\'s, as `sealion plan` prints it' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l ca-passphrase-file -d 'The file with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand enable" -s b -l bits -d 'RSA keys of this size instead of P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l leaf-days -d 'Days until a node\'s certificate expires' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l watch-clients-s -d 'Seconds for which client connections are watched before cleartext is refused; clients that connect less often are not seen' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l sync-s-max -d 'Upper bound for a restarted node to be Synced again; a running state transfer is waited for' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l drain-s-max -d 'Upper bound for sessions to leave a drained node' -r
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l allow-untested -d 'Change servers of a version that we have not run ourselves'
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l accept-unknown-clients -d 'Refuse clear text though it could not be seen whether clients still use it'
complete -c sealion -n "__fish_sealion_using_subcommand enable" -l accept-unproven -d 'Close the change although the last check could not prove it; that stays in `status` and in the journal'
complete -c sealion -n "__fish_sealion_using_subcommand enable" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand enable" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l yes -d 'Do not ask; HASH is the plan\'s, as `sealion plan` prints it' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l ca-passphrase-file -d 'The file with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand disable" -s b -l bits -d 'RSA keys of this size instead of P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l leaf-days -d 'Days until a node\'s certificate expires' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l watch-clients-s -d 'Seconds for which client connections are watched before cleartext is refused; clients that connect less often are not seen' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l sync-s-max -d 'Upper bound for a restarted node to be Synced again; a running state transfer is waited for' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l drain-s-max -d 'Upper bound for sessions to leave a drained node' -r
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l allow-untested -d 'Change servers of a version that we have not run ourselves'
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l accept-unknown-clients -d 'Refuse clear text though it could not be seen whether clients still use it'
complete -c sealion -n "__fish_sealion_using_subcommand disable" -l accept-unproven -d 'Close the change although the last check could not prove it; that stays in `status` and in the journal'
complete -c sealion -n "__fish_sealion_using_subcommand disable" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand disable" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand rotate" -l yes -d 'Do not ask; HASH is the plan\'s, as `sealion plan` prints it' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate" -l ca-passphrase-file -d 'The file with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand rotate" -s b -l bits -d 'RSA keys of this size instead of P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate" -l leaf-days -d 'Days until a node\'s certificate expires' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate" -l watch-clients-s -d 'Seconds for which client connections are watched before cleartext is refused; clients that connect less often are not seen' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate" -l sync-s-max -d 'Upper bound for a restarted node to be Synced again; a running state transfer is waited for' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate" -l drain-s-max -d 'Upper bound for sessions to leave a drained node' -r
complete -c sealion -n "__fish_sealion_using_subcommand rotate" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand rotate" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand rotate" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand rotate" -l allow-untested -d 'Change servers of a version that we have not run ourselves'
complete -c sealion -n "__fish_sealion_using_subcommand rotate" -l accept-unknown-clients -d 'Refuse clear text though it could not be seen whether clients still use it'
complete -c sealion -n "__fish_sealion_using_subcommand rotate" -l accept-unproven -d 'Close the change although the last check could not prove it; that stays in `status` and in the journal'
complete -c sealion -n "__fish_sealion_using_subcommand rotate" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand rotate" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l ca-passphrase-file -d 'The file with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand resume" -s b -l bits -d 'RSA keys of this size instead of P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l leaf-days -d 'Days until a node\'s certificate expires' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l watch-clients-s -d 'Seconds for which client connections are watched before cleartext is refused; clients that connect less often are not seen' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l sync-s-max -d 'Upper bound for a restarted node to be Synced again; a running state transfer is waited for' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l drain-s-max -d 'Upper bound for sessions to leave a drained node' -r
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l allow-untested -d 'Change servers of a version that we have not run ourselves'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l accept-unknown-clients -d 'Refuse clear text though it could not be seen whether clients still use it'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l accept-unproven -d 'Close the change although the last check could not prove it; that stays in `status` and in the journal'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -l take-over -d 'Continue even though another sealion still holds the lease of this cluster; make sure that it has ended'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand resume" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l yes -d 'Do not ask; HASH is the plan\'s, as `sealion plan` prints it' -r
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l ca-passphrase-file -d 'The file with the passphrase of the CA key (mode 0600)' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand undo" -s b -l bits -d 'RSA keys of this size instead of P-256' -r
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l leaf-days -d 'Days until a node\'s certificate expires' -r
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l watch-clients-s -d 'Seconds for which client connections are watched before cleartext is refused; clients that connect less often are not seen' -r
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l sync-s-max -d 'Upper bound for a restarted node to be Synced again; a running state transfer is waited for' -r
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l drain-s-max -d 'Upper bound for sessions to leave a drained node' -r
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l allow-untested -d 'Change servers of a version that we have not run ourselves'
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l accept-unknown-clients -d 'Refuse clear text though it could not be seen whether clients still use it'
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l accept-unproven -d 'Close the change although the last check could not prove it; that stays in `status` and in the journal'
complete -c sealion -n "__fish_sealion_using_subcommand undo" -l take-over -d 'Continue even though another sealion still holds the lease of this cluster; make sure that it has ended'
complete -c sealion -n "__fish_sealion_using_subcommand undo" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand undo" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand abandon" -l yes -d 'Do not ask; HASH is the plan\'s, as `sealion plan` prints it' -r
complete -c sealion -n "__fish_sealion_using_subcommand abandon" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand abandon" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand abandon" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand abandon" -l take-over -d 'Continue even though another sealion still holds the lease of this cluster; make sure that it has ended'
complete -c sealion -n "__fish_sealion_using_subcommand abandon" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand abandon" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -f -a "list" -d 'The workloads and the experiments'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -f -a "prepare" -d 'Make and fill the tables of the workloads, in a schema of their own'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -f -a "load" -d 'One measurement of one workload'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -f -a "run" -d 'An experiment: blocks of trials in random order, and what can be said of them'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -f -a "sysbench" -d 'What a sysbench command line says, by our own generator'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -f -a "cleanup" -d 'Drop the schema that `prepare` made'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -f -a "runs" -d 'Measurements that were kept, the newest first'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -f -a "show" -d 'A kept measurement as it was printed, and its page with pictures'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -f -a "compare" -d 'Two runs of the same experiment: each arm with itself, and each effect with itself'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -f -a "export" -d 'Every trial of a measurement with all its figures: CSV, --format parquet, or the whole of it as --format json'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and not __fish_seen_subcommand_from list prepare load run sysbench cleanup runs show compare export advise" -f -a "advise" -d 'What a machine carries with each setting, and what another one would save, by measured CPU costs'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from list" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from list" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -s h -l host -d 'Name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -s P -l port -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -s u -l user -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l password-file -d 'Take the password from the first line of a file that only you can read' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l password-fd -d 'Take the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -s S -l socket -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l defaults-group-suffix -d 'Also read groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l login-path -d 'Group of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l ssl-mode -d 'DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l ssl-ca -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l ssl-crl -d 'What that CA has revoked' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l ssl-cert -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l ssl-key -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l database -d 'The schema of the tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l tables -d 'How many tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l table-size -d 'Rows of each table' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l seed -d 'Of the random numbers: the same seed makes the same rows' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l threads -d 'Tables that are filled at once' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l engine -d 'Storage engine; the server\'s default when left out' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -s p -l password -d 'Ask for the password; it is never taken from the command line'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l ssl -d 'TLS or nothing, as mariadb\'s --ssl'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l skip-ssl
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l ssl-verify-server-cert -d 'Check chain and name, as mariadb\'s option of that name'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -s ? -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l no-secondary -d 'No index on column k'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -l bulk -d 'Empty tables for bulk_insert, which has one for each connection'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from prepare" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l script -d 'Your own statements, each with a ; at the end of a line; all in order are an event. {id}, {table}, {int:FROM..TO} and {digits:N} are filled anew each time' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l replay -d 'The statements of a general query log, one of them by chance for each event' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s h -l host -d 'Name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s P -l port -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s u -l user -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l password-file -d 'Take the password from the first line of a file that only you can read' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l password-fd -d 'Take the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s S -l socket -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l defaults-group-suffix -d 'Also read groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l login-path -d 'Group of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl-mode -d 'DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl-ca -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl-crl -d 'What that CA has revoked' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl-cert -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl-key -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l database -d 'The schema of the tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tables -d 'How many tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l table-size -d 'Rows of each table' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l seed -d 'Of the random numbers: the same seed makes the same rows' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s c -l connections -l threads -d 'Connections that are used at once' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l workers -d 'Threads of the generator; when left out two, or one for four processors where that is more' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l rand-type -d 'How ids are drawn: special, uniform, gaussian or pareto' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l range-size -d 'Rows of a range' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l point-selects -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l simple-ranges -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l sum-ranges -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l order-ranges -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l distinct-ranges -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l index-updates -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l non-index-updates -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l delete-inserts -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tls-min -d 'Oldest TLS version: 1.0 to 1.3' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tls-max -d 'Newest TLS version' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl-cipher -d 'Cipher suites up to TLS 1.2, in OpenSSL\'s spelling' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tls-ciphersuites -d 'Cipher suites of TLS 1.3' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tls-groups -d 'Groups of the key exchange, best first (X25519MLKEM768:X25519)' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tls-sigalgs -d 'What the server may sign its handshake with (and the client, with --ssl-cert), best first: ECDSA+SHA256:rsa_pss_rsae_sha256' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tls-record-bytes -d 'No TLS record of data that is sent holds more: 32 to 16384' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l tls-library -d 'Who does TLS here' -r -f -a "openssl\t''
rustls\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l resume -d 'Go on with a TLS session that the server gave before, where it gave one; =session-id: of TLS 1.2, and not by a ticket. With --tls-library rustls' -r -f -a "any\t''
session-id\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l time -d 'Measure for so long: 10 when left out, without end with --events' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l warm-up -d 'Before anything counts: 2 when left out, and none with --events; auto: until the throughput does not change any more, for a minute at most' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l events -d 'End after so many events, or when --time is over if that is given and comes first' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l rate -d 'Begin so many events a second, whether or not others have ended: latencies then count from when each was to begin' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l rate-ramp -d 'One measurement after the other with rates that rise by the same factor, in 8 steps if not said, until the server keeps up no more (1000..20000/12)' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l store -d 'Keep the measurement in this file; that of the inventory\'s cluster, or your own, when left out' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l replay-digests -d 'What the server has counted in the schema (performance_schema): a sample of each digest, as often as the digest came'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s p -l password -d 'Ask for the password; it is never taken from the command line'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl -d 'TLS or nothing, as mariadb\'s --ssl'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l skip-ssl
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l ssl-verify-server-cert -d 'Check chain and name, as mariadb\'s option of that name'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s ? -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l no-range-selects -d 'No ranges at all'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l skip-trx -d 'No BEGIN and COMMIT'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l text-protocol -d 'All statements go as text, where the workloads of sysbench have them prepared: its --db-ps-mode=disable'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l own-tables -d 'The schema may be written to, although sealion has not made it'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -l no-store -d 'Do not keep the measurement'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from load" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s h -l host -d 'Name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s P -l port -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s u -l user -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l password-file -d 'Take the password from the first line of a file that only you can read' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l password-fd -d 'Take the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s S -l socket -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l defaults-group-suffix -d 'Also read groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l login-path -d 'Group of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl-mode -d 'DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl-ca -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl-crl -d 'What that CA has revoked' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl-cert -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl-key -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l database -d 'The schema of the tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tables -d 'How many tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l table-size -d 'Rows of each table' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l seed -d 'Of the random numbers: the same seed makes the same rows' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s c -l connections -l threads -d 'Connections that are used at once' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l workers -d 'Threads of the generator; when left out two, or one for four processors where that is more' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l rand-type -d 'How ids are drawn: special, uniform, gaussian or pareto' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l range-size -d 'Rows of a range' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l point-selects -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l simple-ranges -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l sum-ranges -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l order-ranges -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l distinct-ranges -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l index-updates -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l non-index-updates -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l delete-inserts -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tls-min -d 'Oldest TLS version: 1.0 to 1.3' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tls-max -d 'Newest TLS version' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl-cipher -d 'Cipher suites up to TLS 1.2, in OpenSSL\'s spelling' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tls-ciphersuites -d 'Cipher suites of TLS 1.3' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tls-groups -d 'Groups of the key exchange, best first (X25519MLKEM768:X25519)' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tls-sigalgs -d 'What the server may sign its handshake with (and the client, with --ssl-cert), best first: ECDSA+SHA256:rsa_pss_rsae_sha256' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tls-record-bytes -d 'No TLS record of data that is sent holds more: 32 to 16384' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l tls-library -d 'Who does TLS here' -r -f -a "openssl\t''
rustls\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l resume -d 'Go on with a TLS session that the server gave before, where it gave one; =session-id: of TLS 1.2, and not by a ticket. With --tls-library rustls' -r -f -a "any\t''
session-id\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l blocks -d 'Blocks: in each of them every arm runs once' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l precision -d 'Go on until every ratio is known to so many percent of it, up and down; 60 blocks at most' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l trial-time -d 'Length of a trial' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l warm-up -d 'Before a trial counts' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l html -d 'Write a page with pictures here' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l store -d 'Keep the measurement in this file; that of the inventory\'s cluster, or your own, when left out' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l lab -d 'On servers of its own, which are made for it, on this machine, and end with it; without, the arms that need such servers are left out'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s p -l password -d 'Ask for the password; it is never taken from the command line'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl -d 'TLS or nothing, as mariadb\'s --ssl'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l skip-ssl
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l ssl-verify-server-cert -d 'Check chain and name, as mariadb\'s option of that name'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s ? -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l no-range-selects -d 'No ranges at all'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l skip-trx -d 'No BEGIN and COMMIT'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l text-protocol -d 'All statements go as text, where the workloads of sysbench have them prepared: its --db-ps-mode=disable'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l own-tables -d 'The schema may be written to, although sealion has not made it'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l quick -d 'Three trials of less than a second an arm, at three levels at most: points and no interval'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -l no-store -d 'Do not keep the measurement'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from run" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l password-file -d 'Take the password from the first line of a file that only you can read' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l password-fd -d 'Take the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l store -d 'Keep the measurement in this file; that of the inventory\'s cluster, or your own, when left out' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -s p -l password -d 'Ask for the password; it is never taken from the command line'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l own-tables -d '`run` may write to the schema, although sealion has not made it'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -l no-store -d 'Do not keep the measurement'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from sysbench" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -s h -l host -d 'Name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -s P -l port -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -s u -l user -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l password-file -d 'Take the password from the first line of a file that only you can read' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l password-fd -d 'Take the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -s S -l socket -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l defaults-group-suffix -d 'Also read groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l login-path -d 'Group of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l ssl-mode -d 'DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l ssl-ca -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l ssl-crl -d 'What that CA has revoked' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l ssl-cert -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l ssl-key -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l database -d 'The schema that was made' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -s p -l password -d 'Ask for the password; it is never taken from the command line'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l ssl -d 'TLS or nothing, as mariadb\'s --ssl'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l skip-ssl
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -l ssl-verify-server-cert -d 'Check chain and name, as mariadb\'s option of that name'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -s ? -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from cleanup" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from runs" -l limit -d 'At most this many' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from runs" -l store -d 'Look in this file; in that of the inventory\'s cluster and in your own when left out' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from runs" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from runs" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from runs" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from runs" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from runs" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from show" -l html -d 'Write a page with its pictures here' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from show" -l store -d 'Look in this file; in that of the inventory\'s cluster and in your own when left out' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from show" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from show" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from compare" -l store -d 'Look in this file; in that of the inventory\'s cluster and in your own when left out' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from compare" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from compare" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from compare" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from compare" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from compare" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from export" -l out -d 'Write it there instead of to standard output' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from export" -l store -d 'Look in this file; in that of the inventory\'s cluster and in your own when left out' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from export" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from export" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from export" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from export" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s h -l host -d 'Name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s P -l port -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s u -l user -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l password-file -d 'Take the password from the first line of a file that only you can read' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l password-fd -d 'Take the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s S -l socket -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l defaults-group-suffix -d 'Also read groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l login-path -d 'Group of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl-mode -d 'DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl-ca -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl-crl -d 'What that CA has revoked' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl-cert -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl-key -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l database -d 'The schema of the tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tables -d 'How many tables' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l table-size -d 'Rows of each table' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l seed -d 'Of the random numbers: the same seed makes the same rows' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s c -l connections -l threads -d 'Connections that are used at once' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l workers -d 'Threads of the generator; when left out two, or one for four processors where that is more' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l rand-type -d 'How ids are drawn: special, uniform, gaussian or pareto' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l range-size -d 'Rows of a range' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l point-selects -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l simple-ranges -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l sum-ranges -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l order-ranges -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l distinct-ranges -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l index-updates -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l non-index-updates -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l delete-inserts -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tls-min -d 'Oldest TLS version: 1.0 to 1.3' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tls-max -d 'Newest TLS version' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl-cipher -d 'Cipher suites up to TLS 1.2, in OpenSSL\'s spelling' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tls-ciphersuites -d 'Cipher suites of TLS 1.3' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tls-groups -d 'Groups of the key exchange, best first (X25519MLKEM768:X25519)' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tls-sigalgs -d 'What the server may sign its handshake with (and the client, with --ssl-cert), best first: ECDSA+SHA256:rsa_pss_rsae_sha256' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tls-record-bytes -d 'No TLS record of data that is sent holds more: 32 to 16384' -r
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l tls-library -d 'Who does TLS here' -r -f -a "openssl\t''
rustls\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l resume -d 'Go on with a TLS session that the server gave before, where it gave one; =session-id: of TLS 1.2, and not by a ticket. With --tls-library rustls' -r -f -a "any\t''
session-id\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l store -d 'Keep the measurement in this file; that of the inventory\'s cluster, or your own, when left out' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s p -l password -d 'Ask for the password; it is never taken from the command line'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl -d 'TLS or nothing, as mariadb\'s --ssl'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l skip-ssl
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l ssl-verify-server-cert -d 'Check chain and name, as mariadb\'s option of that name'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s ? -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l no-range-selects -d 'No ranges at all'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l skip-trx -d 'No BEGIN and COMMIT'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l text-protocol -d 'All statements go as text, where the workloads of sysbench have them prepared: its --db-ps-mode=disable'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l own-tables -d 'The schema may be written to, although sealion has not made it'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -l no-store -d 'Do not keep the measurement'
complete -c sealion -n "__fish_sealion_using_subcommand bench; and __fish_seen_subcommand_from advise" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive" -f -a "up" -d 'Start a cluster on loopback and leave it up'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive" -f -a "exec" -d 'Run a program inside the lab, e.g. `sealion lab exec -- mariadb`'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive" -f -a "status" -d 'What runs'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive" -f -a "down" -d 'End the lab and remove its files'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive" -f -a "fetch" -d 'Fetch a server without root'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive" -f -a "start" -d 'Start a node'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive" -f -a "stop" -d 'Stop a node'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive" -f -a "kill" -d 'Kill a node as a power cut would'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and not __fish_seen_subcommand_from up exec status down fetch start stop kill alive" -f -a "alive" -d 'Exit 0 while a node\'s process runs'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l nodes -d 'How many nodes of a Galera cluster' -r
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l sst -d 'How joiners get their data: rsync, or mariabackup where relays look' -r -f -a "rsync\t''
mariabackup\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l dir -d 'The lab\'s directory' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l tls -d 'Enable TLS before it is handed over'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l system -d 'Use the servers that the system has installed'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l no-namespace -d 'Use the host\'s loopback, not a namespace of its own'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -l relay -d 'Put relays in front of the ports and look through them, as where packets may not be captured'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from up" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from exec" -l dir -d 'The lab\'s directory' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from exec" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from exec" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from exec" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from exec" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from exec" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from status" -l dir -d 'The lab\'s directory' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from status" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from status" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from status" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from down" -l dir -d 'The lab\'s directory' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from down" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from down" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from down" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from down" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from down" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from fetch" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from fetch" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from fetch" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from fetch" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from fetch" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from start" -l dir -d 'The lab\'s directory' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from start" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from start" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from start" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from start" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from start" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from stop" -l dir -d 'The lab\'s directory' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from stop" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from stop" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from stop" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from stop" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from kill" -l dir -d 'The lab\'s directory' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from kill" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from kill" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from kill" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from kill" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from kill" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from alive" -l dir -d 'The lab\'s directory' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from alive" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from alive" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from alive" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from alive" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand lab; and __fish_seen_subcommand_from alive" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand report" -l html -d 'Write the page here instead of a summary to the terminal' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand report" -l run -d 'One kept run with all it saw, as JSON' -r
complete -c sealion -n "__fish_sealion_using_subcommand report" -l limit -d 'List at most this many runs' -r
complete -c sealion -n "__fish_sealion_using_subcommand report" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand report" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand report" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand report" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand report" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand config; and not __fish_seen_subcommand_from print inventory" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and not __fish_seen_subcommand_from print inventory" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand config; and not __fish_seen_subcommand_from print inventory" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand config; and not __fish_seen_subcommand_from print inventory" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand config; and not __fish_seen_subcommand_from print inventory" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand config; and not __fish_seen_subcommand_from print inventory" -f -a "print" -d 'Print effective options'
complete -c sealion -n "__fish_sealion_using_subcommand config; and not __fish_seen_subcommand_from print inventory" -f -a "inventory" -d 'Draft a sealion.toml from what one server tells of its cluster'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -l defaults-file -d 'Read only this file and what it includes' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -l defaults-extra-file -d 'Read this file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -l defaults-group-suffix -d 'Also read groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -s g -l group -d 'Groups to read, as a server or client would; a MariaDB server\'s when left out' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from print" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -s h -l host -d 'Name or address' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -s P -l port -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -s u -l user -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l password-file -d 'Take the password from the first line of a file that only you can read' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l password-fd -d 'Take the password from this open file descriptor' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -s S -l socket -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l defaults-file -d 'Read only this option file' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l defaults-extra-file -d 'Read this option file after the usual ones' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l defaults-group-suffix -d 'Also read groups with this suffix' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l login-path -d 'Group of ~/.mylogin.cnf' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l ssl-mode -d 'DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY' -r
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l ssl-ca -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l ssl-crl -d 'What that CA has revoked' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l ssl-cert -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l ssl-key -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -s p -l password -d 'Ask for the password; it is never taken from the command line'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l ssl -d 'TLS or nothing, as mariadb\'s --ssl'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l skip-ssl
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -l ssl-verify-server-cert -d 'Check chain and name, as mariadb\'s option of that name'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -s ? -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand config; and __fish_seen_subcommand_from inventory" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand explain" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand explain" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand explain" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand explain" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand explain" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand completions" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand completions" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand completions" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand completions" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand completions" -s h -l help -d 'Print help'
complete -c sealion -n "__fish_sealion_using_subcommand man" -l inventory -d 'The inventory of the cluster' -r -F
complete -c sealion -n "__fish_sealion_using_subcommand man" -l format -d 'Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet' -r -f -a "table\t''
json\t''
diff\t''
sql\t''
shell\t''
csv\t''
parquet\t''
sarif\t''
junit\t''
prometheus\t''
html\t''"
complete -c sealion -n "__fish_sealion_using_subcommand man" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c sealion -n "__fish_sealion_using_subcommand man" -s v -l verbose -d 'Say more; twice says everything'
complete -c sealion -n "__fish_sealion_using_subcommand man" -s h -l help -d 'Print help'
