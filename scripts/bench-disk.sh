#!/usr/bin/env bash
# Measures `sealion status rest` beside cat and innochecksum: bench-disk.sh SEALION RATIO [OUT]
#
# Tablespaces of real tables (MariaDB plain and encrypted, MySQL plain), copied until they are BENCH_DISK_MB (2000) MB each. They are read by
# all three in turn, in random order, BENCH_BLOCKS (9) times, from memory: it is the scanning that is compared, and no disk. cat copies to
# /dev/null; innochecksum of the server's own bundle verifies the checksum of each page, and of an encrypted page the one over its
# ciphertext. SEALION is the program, RATIO `ratio` of bench. It writes the section between its marks of OUT (docs/benchmarks.md).
set -euo pipefail
export LC_ALL=C

[ $# -ge 2 ] || {
    printf 'usage: bench-disk.sh SEALION RATIO [OUT]\n' >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/bench-common.sh
. "$here/bench-common.sh"
sealion=$(absolute "$1") ratio=$(absolute "$2") out=$(absolute "${3:-docs/benchmarks.md}")
blocks=${BENCH_BLOCKS:-9} size_mb=${BENCH_DISK_MB:-2000}
bundles=${SEALION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sealion}/bundles
work=$(mktemp -d -p "${BENCH_DIR:-$PWD}" .bench-disk.XXXXXX)
pid=
trap finish EXIT
trap 'exit 130' INT TERM
load_before=$(cut -d ' ' -f 1-3 /proc/loadavg)
cd "$work"

# sql BUNDLE: statements of stdin, as root.
sql() {
    local usr=$bundles/$1/usr
    case $1 in
    galera-10.11) LD_LIBRARY_PATH=$usr/lib/x86_64-linux-gnu:$bundles/$1/lib/x86_64-linux-gnu "$usr/bin/mariadb" --no-defaults -u root -S "$work/s/socket" ;;
    *) "$usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$usr/lib/x86_64-linux-gnu" "$usr/bin/mysql" --no-defaults -u root \
        -S "$work/s/socket" ;;
    esac
}

# up BUNDLE [option ...]: a server at s/, and its pid in `pid`.
up() {
    local name=$1
    shift
    "$here/start-server.sh" "$name" "$work/s" 3306 --skip-networking "$@" &
    pid=$!
    for _ in $(seq 600); do
        if sql "$name" <<<'SELECT 1' >/dev/null 2>&1; then return; fi
        sleep 0.2
    done
    cat "$work/s/log" >&2
    exit 1
}
down() {
    kill "$pid"
    wait "$pid" || true
    pid=
    rm -rf "$work/s"
}

# fill OPTIONS: statements that make a table of some 100 MB of text and numbers.
fill() {
    printf 'CREATE DATABASE d; CREATE TABLE d.t (a INT AUTO_INCREMENT PRIMARY KEY, b VARCHAR(200), c BIGINT, KEY (c)) ENGINE=InnoDB %s;\n' "$1"
    printf "INSERT INTO d.t (b, c) WITH RECURSIVE r AS (SELECT 1 i UNION ALL SELECT i + 1 FROM r WHERE i < 900) \
SELECT CONCAT('a note about customer ', x.i * y.i, ' and the order ', x.i + y.i, ' of the day, as it was written down'), x.i * 7919 + y.i \
FROM r x JOIN r y ON y.i <= 900;\n"
    printf 'FLUSH TABLES d.t FOR EXPORT;\n'
}

# copies NAME: the table, so often that it is size_mb.
copies() {
    local bytes n=0
    bytes=$(stat -c %s "$work/s/data/d/t.ibd")
    mkdir -p "$1/d"
    while [ $((n * bytes)) -lt $((size_mb * 1000000)) ]; do
        cp --reflink=never "$work/s/data/d/t.ibd" "$1/d/t$n.ibd"
        n=$((n + 1))
    done
    printf '%s %s %s\n' "$1" "$n" $((n * bytes)) >>sizes
}

say "making tablespaces"
printf '1;%s\n' "$(printf '5e%.0s' $(seq 32))" >keys
up galera-10.11 --plugin-load-add=file_key_management "--loose-file-key-management-filename=$work/keys" --innodb-buffer-pool-size=512M
fill 'ENCRYPTED=NO' | sql galera-10.11
copies mariadb-plain
printf 'DROP DATABASE d;' | sql galera-10.11
fill 'ENCRYPTED=YES' | sql galera-10.11
copies mariadb-encrypted
down
up mysql-9.7 --mysqlx=OFF --innodb-buffer-pool-size=512M
fill '' | sql mysql-9.7
copies mysql-plain
down
arms='sealion cat innochecksum'
kinds='mariadb-plain mariadb-encrypted mysql-plain'

# verify DIR: innochecksum of the server that wrote it, a file after the other.
verify() {
    local usr file
    case $1 in
    mysql-*)
        usr=$bundles/mysql-9.7/usr
        for file in "$1"/d/*.ibd; do
            "$usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$usr/lib/x86_64-linux-gnu" "$usr/bin/innochecksum" "$file"
        done
        ;;
    *)
        usr=$bundles/galera-10.11/usr
        for file in "$1"/d/*.ibd; do LD_LIBRARY_PATH=$usr/lib/x86_64-linux-gnu:$bundles/galera-10.11/lib/x86_64-linux-gnu "$usr/bin/innochecksum" "$file"; done
        ;;
    esac
}

# took ARM DIR: its rate in MB/s, of its own time and not of the shell's.
took() {
    local TIMEFORMAT=%R
    case $1 in
    sealion) { time "$sealion" status rest --datadir "$2" --format json >said; } 2>seconds ;;
    cat) { time cat "$2"/d/*.ibd >/dev/null; } 2>seconds ;;
    innochecksum) { time verify "$2" >said 2>&1; } 2>seconds ;;
    esac
    awk -v bytes="$(awk -v name="$2" '$1 == name { print $3 }' sizes)" 'END { printf "%.1f\n", bytes / 1000000 / $1 }' seconds
}

for kind in $kinds; do
    for arm in $arms; do took "$arm" "$kind" >/dev/null; done
done
for ((block = 1; block <= blocks; block++)); do
    for kind in $kinds; do
        for arm in $(shuf -e $arms); do
            printf '%s,%d,%s,%s\n' "$kind" "$block" "$arm" "$(took "$arm" "$kind")" >>raw.csv
        done
    done
    say "block $block of $blocks"
done

rows() { awk -F , -v base="$1" '$3 == base || $3 == "sealion"' raw.csv | "$ratio" "$1" sealion | awk -F , -v base="$1" '{ printf "| %s | %s | %.0f | %.0f | %.2f (%.2f to %.2f) |\n", $1, base, $2, $3, $4, $5, $6 }'; }
{
    printf '<!-- bench-disk.sh: from here -->\n## Reading tablespaces\n\n'
    printf 'scripts/bench-disk.sh: tablespaces of a real table of %s MB, copied to some %s MB each, in memory, read %s times in turn by `sealion status rest`, by\n' \
        "$(awk 'NR == 1 { printf "%.0f", $3 / $2 / 1000000 }' sizes)" "$size_mb" "$blocks"
    printf '`cat FILES >/dev/null` and by `innochecksum` of the bundle. sealion verifies the checksum of each page of MariaDB (`full_crc32`), and counts\n'
    printf 'it by key; of MySQL it compares both ends of a page and its type. Ratios with intervals of 95 %%.\n'
    machine "$load_before"
    printf '\n| tablespaces | beside | MB/s | sealion MB/s | ratio |\n|---|---|---|---|---|\n'
    rows cat
    rows innochecksum
    printf '<!-- bench-disk.sh: to here -->\n'
} >page
replace_section '<!-- bench-disk.sh: from here -->' '<!-- bench-disk.sh: to here -->' page "$out"
