#!/usr/bin/env bash
# Measures `sealion bench load` beside sysbench on the same server: bench-load.sh SEALION RATIO [OUT]
#
# Starts MariaDB 10.11 on loopback (RSA-2048) and runs both tools over the same tables, in blocks in which each runs once, in
# an order that alternates from block to block. Throughput is of the tool's own count; CPU time is that of the whole process,
# without what the same command takes for a single event (start, connections, statements to prepare). RATIO is the example
# `ratio` of the crate bench. Where valgrind is installed, instructions in user space are counted too. It writes the section
# "Load generator" of OUT (docs/benchmarks.md), between two marks, and the raw numbers as CSV to BENCH_LOAD_CSV when that is set.
#
#   BENCH_LOAD_BLOCKS (5: fewer give no interval)   BENCH_LOAD_SECONDS of a trial (5)
#   BENCH_LOAD_CONNECTIONS ("1 2 4 8 16 32")        BENCH_LOAD_PORT (21790)
#   BENCH_LOAD_LONG ("8 32"): with so many connections a trial takes as long as it takes for BENCH_LOAD_CPU_SECONDS (60) of
#                             each tool in all blocks together, by a short trial before, so that user and system time are
#                             split of so much
#   BENCH_LOAD_WORKLOADS ("oltp_point_select oltp_read_only")
#   BENCH_LOAD_SESSION ("shared": the server is in the session of the tools; "own")
#
# The server is ended by its own pid.
set -euo pipefail
export LC_ALL=C

[ $# -ge 2 ] || {
    printf 'usage: bench-load.sh SEALION RATIO [OUT]\n' >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/bench-common.sh
. "$here/bench-common.sh"
sealion=$(absolute "$1") ratio=$(absolute "$2") out=$(absolute "${3:-docs/benchmarks.md}")
blocks=${BENCH_LOAD_BLOCKS:-5}
seconds=${BENCH_LOAD_SECONDS:-5}
read -ra levels <<<"${BENCH_LOAD_CONNECTIONS:-1 2 4 8 16 32}"
long=${BENCH_LOAD_LONG-8 32}
cpu_seconds=${BENCH_LOAD_CPU_SECONDS:-60}
port=${BENCH_LOAD_PORT:-21790}
case ${BENCH_LOAD_SESSION:=shared} in
shared) ;;
own) session=(setsid) ;;
*)
    say "BENCH_LOAD_SESSION is shared or own, not $BENCH_LOAD_SESSION"
    exit 2
    ;;
esac
readonly tables=4 table_size=10000
readonly begin='<!-- bench-load.sh: from here -->' end='<!-- bench-load.sh: to here -->'

command -v sysbench >/dev/null || {
    say "sysbench is not here: scripts/setup.sh tools"
    exit 2
}
work=$(mktemp -d)
pid=
trap finish EXIT
trap 'exit 130' INT TERM

load=$(cut -d ' ' -f 1-3 /proc/loadavg)
start_mariadb "$work/server" "$port" --max-connections=500
cd "$work"
"$sealion" bench prepare -h 127.0.0.1 -P "$port" -u root --tables $tables --table-size $table_size
# sysbench 1.0 has no option for these: --mysql-ssl=on takes them from the current directory. libmariadb then checks the chain,
# so the other tool does as well.
cp server/cert.pem cacert.pem
cp server/cert.pem client-cert.pem
cp server/key.pem client-key.pem

# words_of TOOL WORKLOAD TLS CONNECTIONS LIMIT: its command is in `words`. LIMIT is "time N" or "events N".
words_of() {
    local tool=$1 workload=$2 tls=$3 connections=$4 limit
    read -ra limit <<<"$5"
    case $tool in
    sysbench)
        words=(sysbench "$workload" --db-driver=mysql --mysql-host=127.0.0.1 "--mysql-port=$port" --mysql-user=root
            --mysql-db=sealion_bench --tables=$tables --table-size=$table_size "--threads=$connections" --time=0
            "--${limit[0]}=${limit[1]}")
        [ "$tls" = plain ] || words+=(--mysql-ssl=on)
        words+=(run)
        ;;
    sealion)
        words=("$sealion" --format json bench load "$workload" --no-store -h 127.0.0.1 -P "$port" -u root --tables $tables
            --table-size $table_size -c "$connections" --warm-up 0 "--${limit[0]}" "${limit[1]}")
        case $tls in
        plain) words+=(--ssl-mode DISABLED) ;;
        tls) words+=(--ssl-mode VERIFY_CA --ssl-ca cacert.pem --ssl-cert client-cert.pem --ssl-key client-key.pem) ;;
        esac
        ;;
    esac
}

# The same, run. `under` is what it runs under.
under=()
run() {
    local words
    words_of "$@"
    "${under[@]}" "${words[@]}"
}

# measure TOOL WORKLOAD TLS CONNECTIONS LIMIT: queries, queries/s, user seconds, system seconds.
measure() {
    local TIMEFORMAT='%U %S' took
    took=$({ time run "$@" >"$work/said" 2>"$work/errors"; } 2>&1) || {
        say "$* failed:"
        cat "$work/said" "$work/errors" >&2
        exit 1
    }
    case $1 in
    sysbench) awk '/^ +queries: / { gsub(/[(]/, ""); print $2, $3 }' "$work/said" ;;
    sealion) awk '/^  "(queries|queries_per_s)":/ { gsub(/,/, ""); printf "%s ", $2 }' "$work/said" ;;
    esac | tr '\n' ' '
    printf '%s\n' "$took"
}

# How long a trial of WORKLOAD/TLS/CONNECTIONS takes, in s.
declare -A lengths
is_long() { case " $long " in *" $1 "*) true ;; *) false ;; esac }
set_length() { # set_length WORKLOAD TLS CONNECTIONS
    local tool took seen=() rate least=2
    lengths[$1/$2/$3]=$seconds
    is_long "$3" || return 0
    for tool in sysbench sealion; do
        took=$(measure $tool "$@" "time 3")
        read -ra seen <<<"$took"
        rate=$(awk -v user="${seen[2]}" -v kernel="${seen[3]}" 'BEGIN { print (user + kernel) / 3 }')
        least=$(awk -v a="$least" -v b="$rate" 'BEGIN { print a < b ? a : b }')
    done
    # A tenth more: the short trial is not exact.
    lengths[$1/$2/$3]=$(awk -v all="$cpu_seconds" -v blocks="$blocks" -v rate="$least" \
        'BEGIN { time = 1.1 * all / blocks / (rate > 0.01 ? rate : 0.01); printf "%d", time + 1 }')
    [ "${lengths[$1/$2/$3]}" -ge "$seconds" ] || lengths[$1/$2/$3]=$seconds
}

trial() { # trial BLOCK TOOL WORKLOAD TLS CONNECTIONS
    local block=$1 start whole time
    shift
    time=${lengths[$2/$3/$4]}
    start=$(measure "$@" "events 1")
    whole=$(measure "$@" "time $time")
    printf '%s %s\n' "$start" "$whole" | awk -v key="$2/$3/$4/$1" -v long="$(is_long "$4" && echo 1 || echo 0)" \
        '{ print key, long, $7 + $8 - $3 - $4 }' >>cpu_s
    printf '%s %s\n' "$start" "$whole" | awk -v name="$2/$3/$4" -v block="$block" -v tool="$1" '{
        user = ($7 - $3) * 1e6 / ($5 - $1); kernel = ($8 - $4) * 1e6 / ($5 - $1)
        printf "%s/qps,%d,%s,%.3f\n%s/cpu_us,%d,%s,%.4f\n%s/user_us,%d,%s,%.4f\n", name, block, tool, $6, name, block, tool,
            user + kernel, name, block, tool, user
    }' >>"$work/raw.csv"
}

# instructions TOOL WORKLOAD TLS: of one query in user space, with 8 connections; of the second half of twice as many events,
# so that what the start takes does not count. How long our clock looks at the processor's counter when it starts is another time
# each time: what is inside that function is not counted (the second of the two options says that what is outside is).
instructions() {
    local events=3000 counts=()
    [ "$2" = oltp_point_select ] || events=200
    under=(valgrind --tool=callgrind --callgrind-out-file=/dev/null "--log-file=$work/valgrind"
        --toggle-collect=quanta::Clock::new --collect-atstart=yes)
    for part in 1 2; do
        read -ra seen <<<"$(measure "$1" "$2" "$3" 8 "events $((part * events))")"
        counts+=("${seen[0]}" "$(awk '/Collected/ { print $NF }' "$work/valgrind")")
    done
    under=()
    awk -v a="${counts[0]}" -v b="${counts[1]}" -v c="${counts[2]}" -v d="${counts[3]}" 'BEGIN { printf "%.0f", (d - b) / (c - a) }'
}

read -ra workloads <<<"${BENCH_LOAD_WORKLOADS:-oltp_point_select oltp_read_only}"
for connections in "${levels[@]}"; do # The pages come into the pool.
    for tool in sysbench sealion; do measure $tool oltp_read_only tls "$connections" "time 1" >/dev/null; done
done
whole_s=0 longest_s=0
for workload in "${workloads[@]}"; do
    for tls in plain tls; do
        for connections in "${levels[@]}"; do
            set_length "$workload" $tls "$connections"
            length=${lengths[$workload/$tls/$connections]}
            whole_s=$((whole_s + 2 * blocks * length))
            [ "$length" -le "$longest_s" ] || longest_s=$length
        done
    done
done
say "$((blocks * ${#workloads[@]} * 2 * ${#levels[@]} * 2)) trials of $seconds to $longest_s s: $((whole_s / 60)) minutes"
for block in $(seq "$blocks"); do
    order=(sysbench sealion)
    [ $((block % 2)) = 1 ] || order=(sealion sysbench)
    for workload in "${workloads[@]}"; do
        for tls in plain tls; do
            for connections in "${levels[@]}"; do
                for tool in "${order[@]}"; do trial "$block" "$tool" "$workload" $tls "$connections"; done
            done
        done
    done
    say "block $block of $blocks, load $(cut -d ' ' -f 1-3 /proc/loadavg)"
done
[ -z "${BENCH_LOAD_CSV:-}" ] || { echo name,block,tool,value && cat raw.csv; } >"$BENCH_LOAD_CSV"
if command -v valgrind >/dev/null; then
    for workload in "${workloads[@]}"; do
        for tls in plain tls; do
            printf '%s %s %s %s\n' "$workload" $tls "$(instructions sysbench "$workload" $tls)" \
                "$(instructions sealion "$workload" $tls)" >>counted
        done
    done
fi
suite=$(run sealion oltp_point_select tls 1 "events 1" | awk -F '"' '/"(version|cipher)":/ { printf "%s ", $4 }')
library=$(ldd "$(command -v sysbench)" | awk '/libmariadb|libmysqlclient/ { print $1 }')
server=$(run sealion oltp_point_select plain 1 "events 1" | awk -F '"' '/"server_version":/ { print $4 }')

{
    printf '%s\n# Load generator\n\n' "$begin"
    printf '`sealion bench load` beside sysbench on the same server and tables, by `make bench` (scripts/bench-load.sh).\n'
    machine "$load"
    printf '\n'
    printf 'sealion %s, sysbench %s with %s, %s;\n' "$("$sealion" --version | awk '{ print $2 }')" \
        "$(sysbench --version | awk '{ print $2 }')" "$library" "$server"
    printf 'TLS is %swith RSA-2048, and both check the chain.\n' "$suite"
    printf 'The server is in %s (sched(7), autogroup).\n' \
        "$([ "$BENCH_LOAD_SESSION" = own ] && echo "a session of its own" || echo "the session of the tools")"
    printf '%s tables of %s rows, defaults otherwise; blocks: %s, trials of %s s' $tables $table_size "$blocks" "$seconds"
    [ -z "$long" ] || printf ' (with %s connections up to %s s,\nfor %s CPU seconds of each tool in a row)' "${long// / or }" "$longest_s" "$cpu_seconds"
    printf ',\nthe order alternates. Ratios are sealion by\n'
    printf 'sysbench within blocks, with their 95 %% interval. CPU is user and system time of the whole process by its queries,\n'
    printf 'without the start (the same command for one event); user is the part of it in user space.\n'
    awk '{ sum[$1] += $3; of[$1] = $2 } END {
        for (key in sum) if (!(of[key] in least) || sum[key] < least[of[key]]) least[of[key]] = sum[key]
        if (1 in least) printf "The rows of long trials are of %.0f CPU seconds of each tool at least", least[1]
        if (0 in least) printf "%s %.0f CPU seconds", 1 in least ? ", the others of" : "Each row is of at least", least[0]
        printf ".\n" }' cpu_s
    for workload in "${workloads[@]}"; do
        printf '\n## %s\n\n' "$workload"
        printf '| TLS | connections | sysbench queries/s | sealion queries/s | ratio | sysbench CPU us/query | sealion CPU us/query | ratio | user: sysbench, sealion us | ratio |\n'
        printf '|---|---|---|---|---|---|---|---|---|---|\n'
        grep "^$workload/" raw.csv | "$ratio" sysbench sealion | awk -F , '
            { between = $5 == "" ? $4 : $4 " (" $5 " to " $6 ")" }
            $1 ~ /\/qps$/ { split($1, key, "/"); printf "| %s | %s | %.0f | %.0f | %s ", key[2], key[3], $2, $3, between }
            $1 ~ /\/cpu_us$/ { printf "| %.2f | %.2f | %s ", $2, $3, between }
            $1 ~ /\/user_us$/ { printf "| %.2f, %.2f | %s |\n", $2, $3, between }'
    done
    if [ -s counted ]; then
        printf '\n## Instructions\n\nIn user space, by callgrind (%s), with 8 connections, without the start. Valgrind has no AVX-512, which\n' \
            "$(valgrind --version)"
        printf 'OpenSSL uses where it is there.\n\n| workload | TLS | sysbench | sealion | ratio |\n|---|---|---|---|---|\n'
        awk '{ printf "| %s | %s | %d | %d | %.3f |\n", $1, $2, $3, $4, $4 / $3 }' counted
    fi
    printf '\nThe commands of a trial with 8 connections over TLS:\n\n```\n'
    time=${lengths[oltp_point_select/tls/8]:-$seconds}
    for tool in sysbench sealion; do
        words_of $tool oltp_point_select tls 8 "time $time"
        printf '%s\n' "${words[*]/#$sealion/sealion}" | fold -s -w 120 | sed 's/ $/ \\/; 2,$s/^/    /'
    done
    printf '```\n\nAll of it: `BENCH_LOAD_BLOCKS=%s BENCH_LOAD_SECONDS=%s BENCH_LOAD_CONNECTIONS="%s" BENCH_LOAD_LONG="%s" BENCH_LOAD_CPU_SECONDS=%s BENCH_LOAD_SESSION=%s make bench`\n%s\n' \
        "$blocks" "$seconds" "${levels[*]}" "$long" "$cpu_seconds" "$BENCH_LOAD_SESSION" "$end"
} >page
replace_section "$begin" "$end" "$work/page" "$out"
