#!/usr/bin/env bash
# Where the server is what limits, two generators must measure the same: `sealion bench load` beside sysbench.
#
#   bench-agree.sh SEALION RATIO [OUT]
#
# Starts MariaDB 10.11 on loopback, on one processor; the tools run on another, so that what they cost takes nothing from the
# server. An event is one SUM over nearly all rows of a table: milliseconds of the server, and one short row. Trials of both in turn; RATIO is the example `ratio` of the crate bench. Writes the section "Agreement" of OUT
# (docs/benchmarks.md), between two marks, and the raw numbers to BENCH_AGREE_CSV when that is set.
#
#   BENCH_AGREE_BLOCKS (8)   BENCH_AGREE_SECONDS of a trial (3)   BENCH_AGREE_CONNECTIONS ("1 8 32")   BENCH_AGREE_PORT (21788)
set -euo pipefail
export LC_ALL=C

[ $# -ge 2 ] || {
    printf 'usage: bench-agree.sh SEALION RATIO [OUT]\n' >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/bench-common.sh
. "$here/bench-common.sh"
sealion=$(absolute "$1") ratio=$(absolute "$2") out=$(absolute "${3:-docs/benchmarks.md}")
blocks=${BENCH_AGREE_BLOCKS:-8}
seconds=${BENCH_AGREE_SECONDS:-3}
read -ra levels <<<"${BENCH_AGREE_CONNECTIONS:-1 8 32}"
port=${BENCH_AGREE_PORT:-21788}
readonly sums=(--point-selects=0 --simple-ranges=0 --sum-ranges=1 --order-ranges=0 --distinct-ranges=0 --range-size=9000)
readonly begin='<!-- bench-agree.sh: from here -->' end='<!-- bench-agree.sh: to here -->'

# Two of the processors that this may run on.
read -r servers tools <<<"$(taskset -cp $$ | awk -F ': ' '{
    count = split($2, parts, ",")
    for (part = 1; part <= count; part++) {
        split(parts[part], ends, "-")
        for (cpu = ends[1]; cpu <= (ends[2] == "" ? ends[1] : ends[2]); cpu++) all = all " " cpu
    }
    print all }')"
tools=${tools%% *}
[ -n "$tools" ] || {
    say "two processors are wanted: one for the server, one for the tools"
    exit 2
}
command -v sysbench >/dev/null || {
    say "sysbench is not here: scripts/setup.sh tools"
    exit 2
}
work=$(mktemp -d)
pid=
trap finish EXIT
trap 'exit 130' INT TERM

load=$(cut -d ' ' -f 1-3 /proc/loadavg)
start_mariadb "$work/server" "$port"
taskset -acp "$servers" "$pid" >/dev/null
cd "$work"
"$sealion" bench prepare -h 127.0.0.1 -P "$port" -u root --tables 1 --table-size 10000

# words_of TOOL TLS CONNECTIONS: its command is in `words`.
words_of() {
    case $1 in
    sysbench)
        words=(sysbench oltp_read_only --db-driver=mysql --mysql-host=127.0.0.1 "--mysql-port=$port" --mysql-user=root
            --mysql-db=sealion_bench --tables=1 --table-size=10000 "--threads=$3" "--time=$seconds" --skip-trx=on "${sums[@]}")
        [ "$2" = plain ] || words+=(--mysql-ssl=on)
        words+=(run)
        ;;
    sealion)
        words=("$sealion" --format json bench load oltp_read_only --no-store -h 127.0.0.1 -P "$port" -u root --tables 1
            --table-size 10000 -c "$3" --warm-up 0 --time "$seconds" --skip-trx "${sums[@]}")
        case $2 in
        plain) words+=(--ssl-mode DISABLED) ;;
        tls) words+=(--ssl-mode VERIFY_CA --ssl-ca cacert.pem --ssl-cert client-cert.pem --ssl-key client-key.pem) ;;
        esac
        ;;
    esac
}
cp server/cert.pem cacert.pem
cp server/cert.pem client-cert.pem
cp server/key.pem client-key.pem

for block in $(seq "$blocks"); do
    order=(sysbench sealion)
    [ $((block % 2)) = 1 ] || order=(sealion sysbench)
    for tls in plain tls; do
        for connections in "${levels[@]}"; do
            for tool in "${order[@]}"; do
                words_of "$tool" $tls "$connections"
                taskset -c "$tools" "${words[@]}" >said 2>errors || {
                    say "${words[*]} failed:"
                    cat said errors >&2
                    exit 1
                }
                case $tool in
                sysbench) rate=$(awk '/^ +queries: / { gsub(/[(]/, ""); print $3 }' said) ;;
                sealion) rate=$(awk '/^  "queries_per_s":/ { gsub(/,/, ""); print $2 }' said) ;;
                esac
                printf '%s/%s,%d,%s,%s\n' $tls "$connections" "$block" "$tool" "$rate" >>raw.csv
            done
        done
    done
    say "block $block of $blocks"
done
[ -z "${BENCH_AGREE_CSV:-}" ] || { echo name,block,tool,value && cat raw.csv; } >"$BENCH_AGREE_CSV"

{
    printf '%s\n# Agreement\n\n' "$begin"
    printf 'Where the server is what limits, two generators must measure the same. An event is one `SUM` over 9,000 rows: milliseconds of\n'
    printf 'the server, which has one processor; the tools have another. By `make bench` (scripts/bench-agree.sh).\n'
    machine "$load"
    printf '\nsealion %s, sysbench %s; blocks: %s, trials of %s s, the order alternates; ratios are sealion by sysbench within blocks, with\n' \
        "$("$sealion" --version | awk '{ print $2 }')" "$(sysbench --version | awk '{ print $2 }')" "$blocks" "$seconds"
    printf 'their 95 %% interval.\n\n| TLS | connections | sysbench queries/s | sealion queries/s | ratio | 1 is in it |\n|---|---|---|---|---|---|\n'
    "$ratio" sysbench sealion <raw.csv | awk -F , '{
        split($1, key, "/")
        printf "| %s | %s | %.1f | %.1f | %s (%s to %s) | %s |\n", key[1], key[2], $2, $3, $4, $5, $6, ($5 <= 1 && 1 <= $6) ? "yes" : "no" }'
    printf '\nThe commands with 8 connections over TLS:\n\n```\n'
    for tool in sysbench sealion; do
        words_of $tool tls 8
        printf '%s\n' "${words[*]/#$sealion/sealion}" | fold -s -w 120 | sed 's/ $/ \\/; 2,$s/^/    /'
    done
    printf '```\n%s\n' "$end"
} >page
replace_section "$begin" "$end" "$work/page" "$out"
