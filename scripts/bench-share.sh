#!/usr/bin/env bash
# Measures `sealion share open` beside `age -d` of the same bytes: bench-share.sh SEALION RATIO [OUT]
#
# A table of MariaDB of BENCH_SHARE_MB (200) MB, shared 2-of-3 with three readers, through three proxies on loopback. One of the readers opens it,
# and age (the program of Debian's package) decrypts the same rows for one recipient, in turn, in random order, BENCH_BLOCKS (9) times; both write to
# a file. Then a table of one row: what is left of an open without rows are two proxies, two handshakes and the arithmetic. SEALION is the
# program, RATIO `ratio` of bench. It writes the section between its marks of OUT (docs/benchmarks.md).
set -euo pipefail
export LC_ALL=C

[ $# -ge 2 ] || {
    printf 'usage: bench-share.sh SEALION RATIO [OUT]\n' >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/bench-common.sh
. "$here/bench-common.sh"
for program in age age-keygen; do
    command -v "$program" >/dev/null || {
        say "$program is missing: apt-get install age"
        exit 3
    }
done
sealion=$(absolute "$1") ratio=$(absolute "$2") out=$(absolute "${3:-docs/benchmarks.md}")
blocks=${BENCH_BLOCKS:-9} size_mb=${BENCH_SHARE_MB:-200}
bundle=${SEALION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sealion}/bundles/galera-10.11
work=$(mktemp -d -p "${BENCH_DIR:-$PWD}" .bench-share.XXXXXX)
pid='' proxies=()
stop() {
    [ ${#proxies[@]} -eq 0 ] || kill "${proxies[@]}" 2>/dev/null || true
    finish
}
trap stop EXIT
trap 'exit 130' INT TERM
load_before=$(cut -d ' ' -f 1-3 /proc/loadavg)
cd "$work"

sql() {
    local usr=$bundle/usr
    LD_LIBRARY_PATH=$usr/lib/x86_64-linux-gnu:$bundle/lib/x86_64-linux-gnu "$usr/bin/mariadb" --no-defaults -u root -S "$work/s/socket"
}

say "a table of $size_mb MB"
start_mariadb "$work/s" 3306 --skip-networking --innodb-buffer-pool-size=512M
sql <<SQL
CREATE DATABASE d;
CREATE TABLE d.t (id INT PRIMARY KEY, note VARCHAR(250), total BIGINT, stamp CHAR(36));
INSERT INTO d.t SELECT seq, CONCAT('a note about customer ', seq * 7919, ' and the order ', seq, ' of the day, as it was written down: ', MD5(seq)),
    seq * 104729, UUID() FROM mysql.seq_1_to_$((size_mb * 1000000 / 165));
CREATE TABLE d.one AS SELECT * FROM d.t LIMIT 1;
SQL

"$sealion" share init own >/dev/null
for reader in one two three; do "$sealion" share identity "$reader" >/dev/null; done
for number in 1 2 3; do
    "$sealion" share proxy serve "p$number" --owner own/public.json --listen 127.0.0.1:0 >"p$number.said" 2>/dev/null &
    proxies+=($!)
done
for number in 1 2 3; do
    for _ in $(seq 100); do
        if grep -q '^--proxy' "p$number.said"; then break; fi
        sleep 0.1
    done
    sed -n 's/^--proxy //p' "p$number.said" >>proxies
done
for table in t one; do
    "$sealion" share create --keys own --table "d.$table" --out "$table.share" -S "$work/s/socket" -u root >&2
    for reader in one two three; do
        "$sealion" share grant "$table.share" --keys own --reader "$reader/public.json" --until 2099-12-31 --max-opens 1000 --need 2 --proxies proxies >/dev/null
    done
done
"$sealion" share open t.share --keys two --owner own/public.json --out rows.tsv >/dev/null 2>&1
age-keygen -o age.key 2>/dev/null
age -e -r "$(age-keygen -y age.key)" -o rows.age rows.tsv
bytes=$(stat -c %s rows.tsv)

# took ARM: its rate in MB/s, of its own time and not of the shell's.
took() {
    local TIMEFORMAT=%R
    rm -f opened
    case $1 in
    sealion) { time "$sealion" share open t.share --keys two --owner own/public.json --out opened >said 2>&1; } 2>seconds ;;
    age) { time age -d -i age.key -o opened rows.age; } 2>seconds ;;
    esac
    cmp -s opened rows.tsv || {
        say "$1 gave other rows"
        exit 1
    }
    awk -v bytes="$bytes" 'END { printf "%.1f\n", bytes / 1000000 / $1 }' seconds
}

for arm in sealion age; do took "$arm" >/dev/null; done
for ((block = 1; block <= blocks; block++)); do
    for arm in $(shuf -e sealion age); do
        printf 'rows,%d,%s,%s\n' "$block" "$arm" "$(took "$arm")" >>raw.csv
    done
    TIMEFORMAT=%R
    rm -f opened
    { time "$sealion" share open one.share --keys two --owner own/public.json --out opened >said 2>&1; } 2>>small
    say "block $block of $blocks"
done

{
    printf '<!-- bench-share.sh: from here -->\n## Opening what was shared\n\n'
    printf 'scripts/bench-share.sh: a table of MariaDB of %.0f MB as rows, shared 2-of-3 with three readers, opened by one of them through proxies on loopback, and the\n' \
        "$(awk -v bytes="$bytes" 'BEGIN { print bytes / 1000000 }')"
    printf 'same rows by `age -d` (%s), %s times in turn, both into a file. Ratios with intervals of 95 %%.\n' "$(age --version)" "$blocks"
    machine "$load_before"
    printf '\n| | age MB/s | sealion MB/s | ratio |\n|---|---|---|---|\n'
    "$ratio" age sealion <raw.csv | awk -F , '{ printf "| opened | %.0f | %.0f | %.2f (%.2f to %.2f) |\n", $2, $3, $4, $5, $6 }'
    printf '\nAn archive of one row, which is all but the rows (start of the program, two handshakes, two requests each, signatures, HPKE, the shares): '
    sort -n small | awk '{ all[NR] = $1 * 1000 } END { printf "median %.0f ms, at most %.0f ms.\n", all[int((NR + 1) / 2)], all[NR] }'
    printf '<!-- bench-share.sh: to here -->\n'
} >page
replace_section '<!-- bench-share.sh: from here -->' '<!-- bench-share.sh: to here -->' page "$out"
