#!/usr/bin/env bash
# Measures the search of `sealion audit --search` beside grep: bench-search.sh SEARCH RATIO [OUT]
#
# Three kinds of files of BENCH_SEARCH_MB (700) MB each: a general log, a dump, and a binary log's bytes (a text of statements among
# bytes without a meaning). A secret stands in each 20 MB or so. Each is read by both in turn, in random order, BENCH_BLOCKS (9) times, from memory: it is the
# searching that is compared, and no disk. grep is asked for the same words, and counts lines: it need not say where, nor tell hashes from
# passwords. SEARCH is the example `search` of the crate host, RATIO `ratio` of bench. It writes the section between its marks of OUT
# (docs/benchmarks.md).
set -euo pipefail
export LC_ALL=C

[ $# -ge 2 ] || {
    printf 'usage: bench-search.sh SEARCH RATIO [OUT]\n' >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/bench-common.sh
. "$here/bench-common.sh"
search=$(absolute "$1") ratio=$(absolute "$2") out=$(absolute "${3:-docs/benchmarks.md}")
blocks=${BENCH_BLOCKS:-9} size_mb=${BENCH_SEARCH_MB:-700}
words='identified[[:space:]]+(by|via|with)|set[[:space:]]+password|(master|source)_password|password[[:space:]]*\(|aes_(en|de)crypt|mysql://|wsrep_sst_auth'
work=$(mktemp -d -p "${BENCH_DIR:-$PWD}" .bench-search.XXXXXX)
pid=
trap finish EXIT
trap 'exit 130' INT TERM
load_before=$(cut -d ' ' -f 1-3 /proc/loadavg)
cd "$work"

# make KIND: lines of that kind for ever, with what is near to a secret, and now and then one.
make() {
    awk -v kind="$1" 'BEGIN {
        srand(7)
        for (n = 1; ; n++) {
            id = int(rand() * 9999999)
            if (n % 150000 == 0) statement = "CREATE USER u" id " IDENTIFIED BY '\''secret" id "'\''"
            else if (n % 97 == 0) statement = "UPDATE users SET password_changed = NOW(), identity = " id " WHERE id = " id
            else if (n % 31 == 0) statement = "SELECT u.name, u.email, p.passport FROM users u JOIN people p ON p.id = u.id WHERE u.id = " id
            else if (n % 3 == 0) statement = "INSERT INTO orders (id, customer, total, note) VALUES (" id ", " n ", " id / 100 ", '\''passed the first test of class " n "'\'')"
            else statement = "SELECT c, pad FROM sbtest" n % 10 " WHERE id BETWEEN " id " AND " id + 99 " ORDER BY c"
            if (kind == "dump") printf "INSERT INTO `orders` VALUES (%d,%d,%f,'\''%s'\''),(%d,%d,%f,'\''note %d'\'');\n", id, n, id / 7, statement, n, id, n / 3, id
            else printf "2026-11-26T23:%02d:%02d.%06dZ\t%5d Query\t%s\n", n / 60 % 60, n % 60, id % 1000000, n % 500, statement
        }
    }'
}
head_of() { head -c $((size_mb * 1000000)); }
say "making files"
make log | head_of >general.log || true
make dump | head_of >dump.sql || true
# Half of it statements, half of it numbers.
paste -d '\n' <(make log) <(while :; do head -c 100000 /dev/urandom | tr -d '\n'; done | fold -b -w 120) 2>/dev/null | head_of >binary.log || true
cat ./*.log ./*.sql >/dev/null

# took TOOL FILE: its rate in MB/s, of its own time and not of the shell's.
took() {
    local TIMEFORMAT=%R
    case $1 in
    sealion) { time "$search" "$2" >said; } 2>seconds ;;
    grep) { time grep -aciE "$words" "$2" >said; } 2>seconds ;;
    esac
    awk -v bytes="$(stat -c %s "$2")" '{ printf "%.1f\n", bytes / 1000000 / $1 }' seconds
}

for file in general.log dump.sql binary.log; do
    for arm in sealion grep; do
        took "$arm" "$file" >/dev/null
        printf '%s %s %s\n' "$file" "$arm" "$(cat said)" >>found
    done
done
for ((block = 1; block <= blocks; block++)); do
    for file in general.log dump.sql binary.log; do
        for arm in $(shuf -e sealion grep); do
            printf '%s,%d,%s,%s\n' "$file" "$block" "$arm" "$(took "$arm" "$file")" >>raw.csv
        done
    done
    say "block $block of $blocks"
done

{
    printf '<!-- bench-search.sh: from here -->\n## Searching logs for secrets\n\n'
    printf 'scripts/bench-search.sh: files of %s MB in memory, each read %s times by both in turn; the search of `sealion audit --search` beside\n' "$size_mb" "$blocks"
    printf '`LC_ALL=C grep -aciE` with the same words. grep counts lines with a word; sealion reads the statement around it, and says how many secrets there are.\n'
    printf 'Ratios with intervals of 95 %%.\n'
    machine "$load_before"
    printf '\n| file | grep MB/s | sealion MB/s | ratio | lines that grep counts | secrets that sealion finds |\n|---|---|---|---|---|---|\n'
    "$ratio" grep sealion <raw.csv | awk -F , '
        BEGIN { while ((getline line <"found") > 0) { split(line, f, " "); if (f[2] == "grep") lines[f[1]] = f[3]; else hits[f[1]] = f[5] } }
        { printf "| %s | %.0f | %.0f | %.2f (%.2f to %.2f) | %s | %s |\n", $1, $2, $3, $4, $5, $6, lines[$1], hits[$1] }'
    printf '<!-- bench-search.sh: to here -->\n'
} >page
replace_section '<!-- bench-search.sh: from here -->' '<!-- bench-search.sh: to here -->' page "$out"
