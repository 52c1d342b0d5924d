#!/usr/bin/env bash
# Measures the measure: the same setting against itself, again and again, and the same trials with a slowdown planted in them.
#
#   bench-aa.sh SEALION RATIO [OUT]
#
# Starts MariaDB 10.11 on loopback and runs `sealion bench run aa` BENCH_AA_RUNS times. Each of them should say "no difference";
# one in twenty may be wrong, because its interval is a 95 % interval. Then one arm's throughput is made less in the numbers of
# each run, at the noise that they have, and RATIO (the example `ratio` of the crate bench, the same statistics) says in how
# many of them it is seen. Writes the section "The same against itself" of OUT (docs/benchmarks.md), between two marks, and the trials to
# BENCH_AA_CSV when that is set.
#
#   BENCH_AA_RUNS (20)   BENCH_AA_BLOCKS of a run (60)   BENCH_AA_SECONDS of a trial (0.4)   BENCH_AA_CONNECTIONS (1)
#   BENCH_AA_PORT (21799)
set -euo pipefail
export LC_ALL=C

[ $# -ge 2 ] || {
    printf 'usage: bench-aa.sh SEALION RATIO [OUT]\n' >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/bench-common.sh
. "$here/bench-common.sh"
sealion=$(absolute "$1") ratio=$(absolute "$2") out=$(absolute "${3:-docs/benchmarks.md}")
runs=${BENCH_AA_RUNS:-20}
blocks=${BENCH_AA_BLOCKS:-60}
seconds=${BENCH_AA_SECONDS:-0.4}
connections=${BENCH_AA_CONNECTIONS:-1}
port=${BENCH_AA_PORT:-21799}
readonly planted=(5 10 20)
readonly begin='<!-- bench-aa.sh: from here -->' end='<!-- bench-aa.sh: to here -->'

work=$(mktemp -d)
pid=
trap finish EXIT
trap 'exit 130' INT TERM

load=$(cut -d ' ' -f 1-3 /proc/loadavg)
start_mariadb "$work/server" "$port"
cd "$work"
"$sealion" bench prepare -h 127.0.0.1 -P "$port" -u root --tables 4 --table-size 10000
words=(bench run aa --no-store -h 127.0.0.1 -P "$port" -u root --ssl-mode REQUIRED --tables 4 --table-size 10000
    -c "$connections" --blocks "$blocks" --trial-time "$seconds" --warm-up 0.3)
for run in $(seq "$runs"); do
    # Its own interval decides what it says; 7 is a run that it calls not usable, and says why.
    code=0
    "$sealion" --format json "${words[@]}" --seed "$run" >run.json || code=$?
    case $code in 0 | 7) ;; *)
        say "run $run ended with $code"
        exit 1
        ;;
    esac
    # One level, one comparison: what follows its ratio is of it.
    claim=$(awk -v usable="$([ "$code" = 0 ] && echo usable || echo not)" '
        $1 == "\"ratio\":" { comparisons++ }
        comparisons && $1 ~ /^"(ratio|low|high|differs)":$/ { gsub(/[":]/, "", $1); sub(/,$/, "", $2); seen[$1] = $2 }
        END {
            if (comparisons != 1 || seen["low"] !~ /^[0-9]/) exit 1
            print (seen["differs"] == "true") ? "claims" : "none", usable, seen["ratio"], seen["low"], seen["high"]
        }' run.json) || {
        say "run $run has no interval"
        exit 1
    }
    printf '%s %s\n' "$run" "$claim" >>verdicts
    "$sealion" --format csv bench export run.json | tr -d '\r' | awk -F , -v run="$run" '
        NR == 1 { for (at = 1; at <= NF; at++) column[$at] = at; next }
        {
            arm = $column["arm"] == "once" ? "a" : "b"
            printf "%s,%d,%s,%.3f\n", run, $column["block"], arm, $column["queries_per_s"]
        }' >>raw.csv
    say "run $run of $runs: $claim"
done
[ -z "${BENCH_AA_CSV:-}" ] || cp raw.csv "$BENCH_AA_CSV"
for percent in "${planted[@]}"; do
    awk -F , -v OFS=, -v part="$percent" '$3 == "b" { $4 *= 1 - part / 100 } { print }' raw.csv | "$ratio" a b >"planted$percent"
done

{
    printf '%s\n# The same against itself\n\n' "$begin"
    printf '`sealion bench run aa`, %s times, and the same numbers with less in one arm, by `make bench`\n' "$runs"
    printf '(scripts/bench-aa.sh).\n'
    machine "$load"
    printf '\noltp_point_select by %s connection%s over TLS, %s blocks of two trials of %s s a run, each run with a seed of its own. One run\n' \
        "$connections" "$([ "$connections" = 1 ] || echo s)" "$blocks" "$seconds"
    printf 'in twenty may claim a difference that is none: the interval is one of 95 %%.\n\n'
    awk '{ claims += $2 == "claims"; unusable += $3 == "not" } END {
        printf "- %d of %d runs claim a difference (3 of 20 is the mark); %d of them were called not usable, for noise or drift\n",
            claims, NR, unusable }' verdicts
    awk -F , '{ key = $1 "," $3; n[key]++; sum[key] += $4; square[key] += $4 * $4 }
        END { for (key in n) { mean = sum[key] / n[key]; cv += sqrt((square[key] / n[key] - mean * mean) * n[key] / (n[key] - 1)) / mean; arms++ }
            printf "- the noise: a trial of %s s differs by %.1f %% (standard deviation) from the others of its arm\n", seconds, cv / arms * 100 }' \
        seconds="$seconds" raw.csv
    for percent in "${planted[@]}"; do
        awk -F , -v percent="$percent" '$6 != "" { seen += ($6 < 1); n++ } END {
            printf "- %d %% less in one arm is seen in %d of %d\n", percent, seen, n }' "planted$percent"
    done
    awk '{ print ($6 - $5) / 2 * 100 }' verdicts | sort -n | awk -v q="'" '{ all[NR] = $1 } END {
        printf "- half of an interval%ss width: %.1f %% in the median run, %.1f to %.1f\n", q, all[int((NR + 1) / 2)], all[1], all[NR] }'
    awk '{ between = (NR == 1) ? "\nThe ratios, in order: " : (NR % 4 == 1) ? ",\n" : ", "
            printf "%s%.3f (%.3f to %.3f)", between, $4, $5, $6 } END { print "." }' verdicts
    printf '\nEach run: `sealion %s --seed N`\n' "${words[*]}"
    printf '%s\n' "$end"
} >page
replace_section "$begin" "$end" "$work/page" "$out"
