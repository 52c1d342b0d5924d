#!/usr/bin/env bash
# Measures `sealion audit` of a server on loopback: bench-audit.sh SEALION [OUT]
#
# MariaDB 10.11 with its performance schema, and MySQL 9.7 when its bundle is there (sealion lab fetch mysql-9.7), once as they are made and once with
# BENCH_ACCOUNTS (1000) accounts and BENCH_TABLES (2000) tables. Each is audited BENCH_RUNS (21) times over its socket, as the whole
# program from its start to its end. It writes the section between its marks of OUT (docs/benchmarks.md). The servers are ended by
# their own pids.
set -euo pipefail
export LC_ALL=C

[ $# -ge 1 ] || {
    printf 'usage: bench-audit.sh SEALION [OUT]\n' >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/bench-common.sh
. "$here/bench-common.sh"
sealion=$(absolute "$1") out=$(absolute "${2:-docs/benchmarks.md}")
runs=${BENCH_RUNS:-21} accounts=${BENCH_ACCOUNTS:-1000} tables=${BENCH_TABLES:-2000}
bundles=${SEALION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sealion}/bundles
work=$(mktemp -d)
pid=
trap finish EXIT
trap 'exit 130' INT TERM
load_before=$(cut -d ' ' -f 1-3 /proc/loadavg)
cd "$work"

client() { # client BUNDLE: statements from its input
    local bundle=$bundles/$1
    case $1 in
    galera-10.11)
        LD_LIBRARY_PATH=$bundle/usr/lib/x86_64-linux-gnu:$bundle/lib/x86_64-linux-gnu "$bundle/usr/bin/mariadb" \
            --no-defaults -u root -S "$work/$1/socket"
        ;;
    mysql-9.7)
        "$bundle/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$bundle/usr/lib/x86_64-linux-gnu" \
            "$bundle/usr/bin/mysql" --no-defaults -u root -S "$work/$1/socket"
        ;;
    esac
}

# measure BUNDLE WHAT
measure() {
    local TIMEFORMAT=%R n
    "$sealion" --format json audit -S "$work/$1/socket" -u root >/dev/null
    for ((n = 0; n < runs; n++)); do
        { time "$sealion" --format json audit -S "$work/$1/socket" -u root >/dev/null; } 2>>"times-$1-$2"
    done
    sort -n "times-$1-$2" | awk -v name="$1" -v what="$2" '
        { all[NR] = $1 * 1000 }
        END { printf "| %s | %s | %.0f | %.0f | %.0f |\n", name, what, all[1], all[int((NR + 1) / 2)], all[NR] }' >>rows
}

for name in galera-10.11 mysql-9.7; do
    [ -e "$bundles/$name/stamp" ] || {
        say "there is no $name: sealion lab fetch $name"
        continue
    }
    "$here/start-server.sh" "$name" "$work/$name" 13900 --performance-schema=ON &
    pid=$!
    until [ -S "$work/$name/socket" ] && client "$name" <<<'SELECT 1' >/dev/null 2>&1; do
        kill -0 "$pid" || exit 3
        sleep 0.3
    done
    measure "$name" fresh
    say "$name: making $accounts accounts and $tables tables"
    {
        for ((n = 0; n < accounts; n++)); do
            printf "CREATE USER app%d@'10.%d.%%' IDENTIFIED BY 'a Long 1 password %d!';\n" "$n" $((n % 250)) "$n"
        done
        for ((n = 0; n < tables; n++)); do
            printf 'CREATE DATABASE IF NOT EXISTS d%d; CREATE TABLE d%d.t%d (a INT);\n' $((n / 100)) $((n / 100)) "$n"
        done
    } | client "$name"
    measure "$name" large
    kill "$pid"
    wait "$pid" || true
    pid=
done

{
    printf '<!-- bench-audit.sh: from here -->\n# Audit\n\n'
    printf 'scripts/bench-audit.sh: the whole program over the socket of a server on loopback, %s times each, with the machine of the server and without\n' "$runs"
    printf '%s. `large` has %s accounts and %s tables.\n' '`--search`' "$accounts" "$tables"
    machine "$load_before"
    printf '\n| server | size | least ms | median ms | most ms |\n|---|---|---|---|---|\n'
    cat rows
    printf '<!-- bench-audit.sh: to here -->\n'
} >page
replace_section '<!-- bench-audit.sh: from here -->' '<!-- bench-audit.sh: to here -->' page "$out"
