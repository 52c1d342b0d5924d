#!/usr/bin/env bash
# Measures the copy of `sealion migrate` beside what people do by hand: bench-migrate.sh SEALION RATIO [OUT]
#
# From MariaDB 10.11 to 11.8 on loopback, both encrypted at rest, every connection TLS with verification: BENCH_MIGRATE_TABLES (4) tables like
# sysbench's of BENCH_MIGRATE_MB (800) MB in all, with BENCH_MIGRATE_SESSIONS (4) sessions. In random order, BENCH_BLOCKS (7) times: `migrate run
# --until copy`, a pipe of `SELECT` into `LOAD DATA LOCAL` for each table side by side, `mariadb-dump | mariadb`, and mydumper into myloader where
# these are installed. Each begins with a target that is as it was at first, and what each has brought is compared with the source. SEALION is
# the program, RATIO `ratio` of bench. It writes the section between its marks of OUT (docs/benchmarks.md); BENCH_RAW keeps the numbers in a file.
set -euo pipefail
export LC_ALL=C

[ $# -ge 2 ] || {
    printf 'usage: bench-migrate.sh SEALION RATIO [OUT]\n' >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/bench-common.sh
. "$here/bench-common.sh"
sealion=$(absolute "$1") ratio=$(absolute "$2") out=$(absolute "${3:-docs/benchmarks.md}")
blocks=${BENCH_BLOCKS:-7} size_mb=${BENCH_MIGRATE_MB:-800} tables=${BENCH_MIGRATE_TABLES:-4} sessions=${BENCH_MIGRATE_SESSIONS:-4}
source_port=${BENCH_PORT:-23306} target_port=$((${BENCH_PORT:-23306} + 10))
bundle=${SEALION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sealion}/bundles/galera-10.11
work=$(mktemp -d -p "${BENCH_DIR:-$PWD}" .bench-migrate.XXXXXX)
pid='' source_pid='' target_pid=''
stop() {
    [ -z "$source_pid" ] || kill "$source_pid" 2>/dev/null || true
    pid=$target_pid
    finish
}
trap stop EXIT
trap 'exit 130' INT TERM
load_before=$(cut -d ' ' -f 1-3 /proc/loadavg)
read -r -a arms <<<"${BENCH_MIGRATE_ARMS:-sealion pipe dump}"
if [ -n "${BENCH_MIGRATE_ARMS:-}" ]; then
    :
elif command -v mydumper >/dev/null && command -v myloader >/dev/null; then arms+=(mydumper); else say "mydumper is not installed: it is left out"; fi
cd "$work"

# The client programs of one package, for both servers: client PROGRAM [argument ...]
client() {
    local usr=$bundle/usr program=$1
    shift
    LD_LIBRARY_PATH=$usr/lib/x86_64-linux-gnu:$bundle/lib/x86_64-linux-gnu "$usr/bin/$program" "$@"
}
# As root, over the socket: sql s|t
sql() { client mariadb --no-defaults -u root -S "$work/$1/socket" -N "${@:2}"; }

common=(--innodb-buffer-pool-size=512M --innodb-log-file-size=512M --log-bin=bin --binlog-format=ROW --local-infile=ON
    --plugin-load-add=file_key_management "--file-key-management-filename=$work/keys" --innodb-encrypt-tables=ON --innodb-encrypt-log=ON
    --encrypt-binlog=ON --max-allowed-packet=64M)
umask 077
printf '1;%s\n2;%s\n' "$(openssl rand -hex 32)" "$(openssl rand -hex 32)" >keys
start() { # start NAME BUNDLE PORT ID
    local name=$1 port=$3
    "$here/start-server.sh" "$2" "$work/$name" "$port" "--server-id=$4" "${common[@]}" &
    pid=$!
    for _ in $(seq 300); do
        if grep -q "ready for connections" "$name/log" 2>/dev/null && sql "$name" -e 'SELECT 1' >/dev/null 2>&1; then return; fi
        sleep 0.2
    done
    say "a server does not come up:"
    cat "$name/log" >&2
    exit 1
}
end() {
    kill "$1"
    wait "$1" 2>/dev/null || true
}

say "$tables tables of $size_mb MB in all"
start s galera-10.11 "$source_port" 1
source_pid=$pid
start t mariadb-11.8 "$target_port" 2
target_pid=$pid
password=$(openssl rand -hex 16)
for name in s t; do
    sql "$name" -e "CREATE USER bench@'%' IDENTIFIED BY '$password' REQUIRE SSL; GRANT ALL ON *.* TO bench@'%'"
    [ "$name" = s ] && port=$source_port || port=$target_port
    login=$(printf 'user=bench\npassword=%s\nhost=127.0.0.1\nport=%s\n' "$password" "$port")
    printf '[client]\n%s\nssl-mode=VERIFY_IDENTITY\nssl-ca=%s/cert.pem\n' "$login" "$work/$name" >"$name.cnf"
    printf '[client]\n%s\nssl-ca=%s/cert.pem\nssl-verify-server-cert\n' "$login" "$work/$name" >"$name.client.cnf"
done
cp s.cnf follow.cnf
rows=$((size_mb * 1000000 / tables / 199))
{
    printf 'SET SESSION sql_log_bin=0; CREATE DATABASE d; USE d;\n'
    for ((number = 1; number <= tables; number++)); do
        printf 'CREATE TABLE t%d (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL, KEY k (k));\n' "$number"
        printf "INSERT INTO t%d SELECT seq, FLOOR(RAND(%d) * %d), CONCAT(MD5(seq), '-', MD5(seq + 1), '-', SHA1(seq + 2), '-', LEFT(MD5(seq), 12)), CONCAT(SHA1(seq), '-', LEFT(MD5(seq), 18)) FROM mysql.seq_1_to_%d;\n" \
            "$number" "$number" "$rows" "$rows"
    done
    printf 'ANALYZE TABLE '
    seq -s , -f 't%.0f' "$tables"
} | sql s >/dev/null
# The same for everybody: what is not in its buffers is read by the first and not by the second.
names=$(seq -f 't%.0f' "$tables")
bytes=0
for table in $names; do
    of_table=$(client mariadb "--defaults-file=s.client.cnf" --quick --batch -N -e "SELECT * FROM d.$table" | wc -c)
    bytes=$((bytes + of_table))
done
checksums() { for table in $names; do sql "$1" -e "CHECKSUM TABLE d.$table"; done; }
checksums s >wanted
end "$target_pid"
mv t/data first

# As who knows it does it: with these two, as dumps set them as well, rows go into an empty table in bulk.
by_hand() {
    client mariadb-dump --defaults-file=s.client.cnf --no-data --databases d | client mariadb --defaults-file=t.client.cnf
    export -f client
    export bundle
    printf '%s\n' $names | xargs -P "$sessions" -n 1 bash -c 'set -o pipefail
        client mariadb --defaults-file=s.client.cnf --quick --batch -N -e "SELECT * FROM d.$0" |
        client mariadb --defaults-file=t.client.cnf --local-infile \
            --init-command="SET unique_checks=0, foreign_key_checks=0" -e "LOAD DATA LOCAL INFILE \"/dev/stdin\" INTO TABLE d.$0"'
}
dumped() {
    client mariadb-dump --defaults-file=s.client.cnf --single-transaction --quick --databases d | client mariadb --defaults-file=t.client.cnf
}
# With a binary log as the others: the target may have replicas.
by_mydumper() {
    rm -rf dump
    mydumper -h 127.0.0.1 -P "$source_port" -u bench -p "$password" --ssl --ca "$work/s/cert.pem" -t "$sessions" -B d -o dump >mydumper.said 2>&1
    myloader -h 127.0.0.1 -P "$target_port" -u bench -p "$password" --ssl --ca "$work/t/cert.pem" -t "$sessions" -e -d dump >>mydumper.said 2>&1
}
by_sealion() { # by_sealion HASH
    "$sealion" migrate run --until copy --from s.cnf --to t.cnf --follow-as follow.cnf --no-way-back --schemas d --sessions "$sessions" \
        --state-dir state --yes "$1" >said 2>&1
}

# took ARM: its rate in MB/s, of its own time and not of the shell's.
took() {
    local TIMEFORMAT=%R hash='' ended=0
    rm -rf state t/data
    cp -r first t/data
    rm -f t/log
    start t mariadb-11.8 "$target_port" 2 >/dev/null
    target_pid=$pid
    if [ "$1" = sealion ]; then
        hash=$("$sealion" --format json migrate plan --from s.cnf --to t.cnf --follow-as follow.cnf --no-way-back --schemas d \
            --sessions "$sessions" | sed -n 's/.*"state_hash": *"\([0-9a-f]\{12\}\).*/\1/p')
    fi
    case $1 in
    sealion) { time by_sealion "$hash"; } 2>seconds || ended=$? ;;
    pipe) { time by_hand; } 2>seconds || ended=$? ;;
    dump) { time dumped; } 2>seconds || ended=$? ;;
    mydumper) { time by_mydumper; } 2>seconds || ended=$? ;;
    esac
    checksums t >got || true
    if [ "$ended" -ne 0 ] || ! cmp -s wanted got; then
        say "$1 ended with $ended, and the target has other rows or none:"
        diff wanted got >&2 || true
        cat seconds >&2
        [ "$1" != sealion ] || cat said >&2
        [ "$1" != mydumper ] || cat mydumper.said >&2
        exit 1
    fi
    end "$target_pid"
    awk -v bytes="$bytes" 'END { printf "%.2f\n", bytes / 1000000 / $1 }' seconds
}

for ((block = 1; block <= blocks; block++)); do
    for arm in $(shuf -e "${arms[@]}"); do
        took "$arm" >rate
        printf 'copied,%d,%s,%s\n' "$block" "$arm" "$(cat rate)" >>raw.csv
        say "block $block of $blocks: $arm $(cat rate) MB/s"
    done
done
[ -z "${BENCH_RAW:-}" ] || cp raw.csv "$BENCH_RAW"

row() { # row ARM WORDS
    case " ${arms[*]} " in *" $1 "*) ;; *) return ;; esac
    grep -E ",(sealion|$1)," raw.csv | "$ratio" "$1" sealion |
        awk -F , -v words="$2" '{ printf "| %s | %.1f | %.1f | %s |\n", words, $2, $3, $5 == "" ? sprintf("%.2f", $4) : sprintf("%.2f (%.2f to %.2f)", $4, $5, $6) }'
}
{
    printf '<!-- bench-migrate.sh: from here -->\n## Tables to another server\n\n'
    printf 'scripts/bench-migrate.sh: %s tables like those of sysbench, each with a key beside the primary one, %.0f MB as rows, from MariaDB 10.11 to 11.8 over\n' \
        "$tables" "$(awk -v bytes="$bytes" 'BEGIN { print bytes / 1000000 }')"
    printf 'loopback, TLS with verification, both encrypted at rest and with a binary log; %s times in turn, each time into a target that is as it was at first. What was\n' "$blocks"
    printf 'brought is compared with the source each time. `sealion migrate run --until copy` from its start to its end, so with its looks before and the trial of\n'
    printf 'replication; %s sessions for it, for the pipes and for mydumper. Ratios with intervals of 95 %%, where over 1 sealion was faster.\n' "$sessions"
    machine "$load_before"
    printf '\n| | MB/s | sealion MB/s | ratio |\n|---|---|---|---|\n'
    row pipe '`SELECT` \| `LOAD DATA LOCAL`, a pipe for each table'
    row dump '`mariadb-dump` \| `mariadb`'
    row mydumper "mydumper, then myloader ($({ mydumper --version 2>/dev/null || true; } | awk '{ print $2 }' | tr -d ,)): the rows lie in files in the clear meanwhile"
    printf '<!-- bench-migrate.sh: to here -->\n'
} >page
replace_section '<!-- bench-migrate.sh: from here -->' '<!-- bench-migrate.sh: to here -->' page "$out"
