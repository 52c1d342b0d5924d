#!/usr/bin/env bash
# Measures `sealion enable tables` beside a plain ALTER and pt-online-schema-change: bench-rest.sh SEALION WAITS [OUT]
#
# One MariaDB of a lab, three tables of BENCH_REST_MB (300) MB. First the restarts that the keys need, then each way encrypts a table of its own
# while one writer updates rows of that table: what is told is how long it took, and how long the writer's longest write waited. SEALION is the
# program, WAITS `waits` of bench. Without pt-online-schema-change (Debian: percona-toolkit, libdbd-mysql-perl) its row says so. It writes the
# section between its marks of OUT (docs/benchmarks.md).
set -euo pipefail
export LC_ALL=C

[ $# -ge 2 ] || {
    printf 'usage: bench-rest.sh SEALION WAITS [OUT]\n' >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/bench-common.sh
. "$here/bench-common.sh"
sealion=$(absolute "$1") waits=$(absolute "$2") out=$(absolute "${3:-docs/benchmarks.md}")
size_mb=${BENCH_REST_MB:-300}
# A row and its share of a page are about so long.
rows=$((size_mb * 1000000 / 260))
# A unix socket's path is short.
work=$(mktemp -d -p "${BENCH_DIR:-/tmp}" sb.XXXXXX)
lab=$work/l socket=$work/l/n1/run/s
load_before=$(cut -d ' ' -f 1-3 /proc/loadavg)
down() {
    "$sealion" lab down --dir "$lab" >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap down EXIT
trap 'exit 130' INT TERM
cd "$work"

in_lab() { "$sealion" lab exec --dir "$lab" -- "$@"; }
sql() { in_lab mariadb --no-defaults -u root -S "$socket" -N -B -e "$1"; }

# The change is open behind it, which has an exit code of its own.
restarts() {
    local code=0
    in_lab "$sealion" enable tables --yes "$hash" --stop-after K4.n1 || code=$?
    [ "$code" -eq 0 ] || [ "$code" -eq 4 ]
}

# measure NAME TABLE COMMAND...: COMMAND while one writer updates rows of TABLE; a line of the table.
measure() {
    local name=$1 table=$2 began ended line
    shift 2
    say "$name"
    mkfifo "$work/pipe"
    "$waits" "$socket" "$table" "$rows" <"$work/pipe" >"$work/line" &
    exec 9>"$work/pipe"
    sleep 2
    began=$(date +%s.%N)
    "$@" >"$work/said" 2>&1 || {
        tail -20 "$work/said" >&2
        exit 1
    }
    ended=$(date +%s.%N)
    exec 9>&-
    wait $!
    rm "$work/pipe"
    line=$(cat "$work/line")
    IFS=, read -r writes median high worst again <<<"$line"
    printf '| %s | %.1f | %s | %s | %s | %s | %s |\n' "$name" "$(awk "BEGIN { print $ended - $began }")" "$writes" "$median" "$high" "$worst" "$again" >>"$work/rows"
}

say "three tables of $size_mb MB"
"$sealion" lab up mariadb --dir "$lab" >"$work/up" 2>&1
sql "CREATE DATABASE d"
for table in s a o; do
    sql "CREATE TABLE d.$table (a INT PRIMARY KEY, b VARCHAR(220), c BIGINT NOT NULL) ENGINE=InnoDB;
        INSERT INTO d.$table SELECT seq, CONCAT(SHA2(seq, 512), SHA2(-seq, 256)), 0 FROM d.seq_1_to_$rows"
done
bytes=$(stat -c %s "$lab/n1/data/d/s.ibd")
hash=$(in_lab "$sealion" plan enable tables --format json | sed -n 's/^  "state_hash": "\([0-9a-f]\{12\}\).*/\1/p')

measure 'nothing (10 s)' d.s sleep 10
measure 'sealion: the two restarts, keys first' d.s restarts
measure '`ALTER TABLE ... ENCRYPTED=YES`' d.a sql 'ALTER TABLE d.a ENCRYPTED=YES'
if command -v pt-online-schema-change >/dev/null; then
    measure 'pt-online-schema-change `ENCRYPTED=YES`' d.o pt-online-schema-change --alter 'ENCRYPTED=YES' --execute --no-version-check \
        "S=$socket,u=root,D=d,t=o"
else
    printf '| pt-online-schema-change (not installed) | | | | | | |\n' >>"$work/rows"
fi
measure 'sealion: all tables, what is left, and the look at all files' d.s in_lab "$sealion" resume --yes "$hash"

{
    printf '<!-- bench-rest.sh: from here -->\n## A table that is encrypted while it is written\n\n'
    printf 'One MariaDB 10.11, tables of %s bytes, one writer that updates rows of the table by its primary key, one after the other.\n' "$bytes"
    printf 'The writer is as fast as it is let: a wait is from the first try to the commit, restarts included. One run.\n\n'
    printf '| | time, s | writes | median, ms | 99 %%, ms | worst, ms | tried again |\n| --- | --: | --: | --: | --: | --: | --: |\n'
    cat "$work/rows"
    printf '\n'
    machine "$load_before"
    printf '<!-- bench-rest.sh: to here -->\n'
} >"$work/page"
replace_section '<!-- bench-rest.sh: from here -->' '<!-- bench-rest.sh: to here -->' "$work/page" "$out"
