#!/usr/bin/env bash
# Measures `sealion scan` beside testssl.sh, sslscan and nmap on the same servers: bench-scan.sh SEALION FARM [OUT]
#
# Starts MariaDB 10.11, and MySQL 9.7 when its bundle is there (sealion lab fetch mysql-9.7), on loopback with an RSA-2048
# certificate, runs each tool several times, one after the other in turn, and writes a page of markdown to OUT
# (docs/benchmarks.md). Connections are the server's own count (`Connections`, `Aborted_connects`). FARM is the example
# `farm` of the crate scan. BENCH_RUNS is how often the quick tools run (11), BENCH_TESTSSL_RUNS how often testssl.sh does (1).
# The servers are ended by their own pids.
set -euo pipefail
export LC_ALL=C

[ $# -ge 2 ] || {
    printf 'usage: bench-scan.sh SEALION FARM [OUT]\n' >&2
    exit 2
}
sealion=$1 farm=$2 out=${3:-docs/benchmarks.md}
here=$(cd "$(dirname "$0")" && pwd)
runs=${BENCH_RUNS:-11}
testssl_runs=${BENCH_TESTSSL_RUNS:-1}
bundles=${SEALION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sealion}/bundles
work=$(mktemp -d)
pids=()
finish() {
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM
say() { printf 'bench: %s\n' "$*" >&2; }

for tool in sslscan:sslscan nmap:nmap testssl:testssl.sh; do
    command -v "${tool%%:*}" >/dev/null || say "${tool##*:} is not here and is left out (Debian's package: ${tool##*:})"
done

client() { # client BUNDLE QUERY: one line of one value
    local bundle=$bundles/$1
    case $1 in
    galera-10.11)
        LD_LIBRARY_PATH=$bundle/usr/lib/x86_64-linux-gnu:$bundle/lib/x86_64-linux-gnu "$bundle/usr/bin/mariadb" \
            --no-defaults -u root -S "$work/$1/socket" -Nse "$2"
        ;;
    mysql-9.7)
        "$bundle/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$bundle/usr/lib/x86_64-linux-gnu" \
            "$bundle/usr/bin/mysql" --no-defaults -u root -S "$work/$1/socket" -Nse "$2"
        ;;
    esac
}
status() { client "$1" "SHOW GLOBAL STATUS LIKE '$2'" | awk '{ print $2 }'; }

run() { # run TOOL PORT
    case $1 in
    first) "$sealion" --format json scan --first "127.0.0.1:$2" ;;
    default) "$sealion" --format json scan "127.0.0.1:$2" ;;
    full) "$sealion" --format json scan --full "127.0.0.1:$2" ;;
    sslscan) sslscan --no-colour --starttls-mysql "127.0.0.1:$2" ;;
    nmap) nmap -n -Pn -p "$2" -sV --script +ssl-enum-ciphers 127.0.0.1 ;;
    testssl) testssl --quiet --color 0 --warnings off --starttls mysql "127.0.0.1:$2" ;;
    esac
}

measure() { # measure SERVER PORT TOOL: a line of seconds, CPU seconds, connections, aborted
    local before aborted after TIMEFORMAT='%R %U %S' took
    before=$(status "$1" Connections)
    aborted=$(status "$1" Aborted_connects)
    took=$({ time run "$3" "$2" >"$work/out.$3" 2>/dev/null </dev/null || true; } 2>&1 | tail -n 1)
    after=$(status "$1" Connections)
    # Two of them are these questions' own.
    printf '%s %s %s %s %s\n' "$3" "$took" $((after - before - 2)) $(($(status "$1" Aborted_connects) - aborted)) "" \
        | awk '{ print $1, $2, $3 + $4, $5, $6 }' >>"$work/$1.runs"
}

# Median and spread of column $3 of tool $2.
middle() { awk -v tool="$2" -v at="$3" '$1 == tool { print $at }' "$work/$1.runs" | sort -n | awk '
    { v[NR] = $1 } END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2; print m, v[1], v[NR], NR }'; }

port=21700
{
    printf '# Benchmarks of the scan\n\n'
    printf 'Made by `make bench` (scripts/bench-scan.sh). %s, %s, %s cores, load before it began %s.\n\n' \
        "$(date -u +%Y-%m-%d)" "$(awk -F ': ' '/model name/ { print $2; exit }' /proc/cpuinfo)" "$(nproc)" \
        "$(cut -d ' ' -f 1-3 /proc/loadavg)"
    printf 'sealion %s' "$("$sealion" --version | awk '{ print $2 }')"
    if command -v sslscan >/dev/null; then printf ', sslscan %s' "$(sslscan --version | awk 'NR == 1 { print $NF }')"; fi
    if command -v nmap >/dev/null; then printf ', nmap %s' "$(nmap --version | awk 'NR == 1 { print $3 }')"; fi
    if command -v testssl >/dev/null; then
        printf ', testssl.sh %s' "$(testssl --version 2>/dev/null | awk '/testssl.sh/ { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+\.[0-9]/) { print $i; exit } }')"
    fi
    printf '. Loopback, RSA-2048; runs in turn. Times are wall time of the whole program, median (least to most). CPU is of the tool alone.\n'
} >"$work/page"

for server in galera-10.11 mysql-9.7; do
    port=$((port + 10))
    [ -e "$bundles/$server/stamp" ] || {
        say "$server is not here and is left out (sealion lab fetch $server)"
        continue
    }
    "$here/start-server.sh" "$server" "$work/$server" $port &
    pids+=($!)
    for _ in $(seq 300); do
        if client "$server" 'SELECT 1' >/dev/null 2>&1; then break; fi
        sleep 0.2
    done
    version=$(client "$server" 'SELECT VERSION()')
    say "$server $version"
    for i in $(seq "$runs"); do
        for tool in first default full sslscan; do
            [ "$tool" != sslscan ] || command -v sslscan >/dev/null || continue
            measure "$server" $port "$tool"
        done
        # nmap does not know the greeting of MySQL 9.7, and runs the script after 16 s of trying.
        if command -v nmap >/dev/null && { [ "$server" = galera-10.11 ] || [ "$i" -le 2 ]; }; then
            measure "$server" $port nmap
        fi
    done
    if command -v testssl >/dev/null; then
        for _ in $(seq "$testssl_runs"); do measure "$server" $port testssl; done
    fi
    full=$(middle "$server" full 2 | cut -d ' ' -f 1)
    {
        printf '\n## %s\n\n' "$version"
        printf '| tool | wall time s | CPU s | connections | aborted connects | runs | of full |\n|---|---|---|---|---|---|---|\n'
        for tool in first default full sslscan nmap testssl; do
            grep -q "^$tool " "$work/$server.runs" || continue
            read -r wall least most count <<<"$(middle "$server" $tool 2)"
            printf '| %s | %s (%s to %s) | %s | %s | %s | %s | %s |\n' \
                "$(case $tool in first | full) printf 'sealion scan --%s' $tool ;; default) printf 'sealion scan' ;;
                testssl) printf 'testssl.sh' ;; nmap) printf 'nmap -sV ssl-enum-ciphers' ;; *) printf '%s' $tool ;; esac)" \
                "$wall" "$least" "$most" "$(middle "$server" $tool 3 | cut -d ' ' -f 1)" \
                "$(middle "$server" $tool 4 | cut -d ' ' -f 1)" "$(middle "$server" $tool 5 | cut -d ' ' -f 1)" "$count" \
                "$(awk -v a="$wall" -v b="$full" 'BEGIN { printf "%.1f", a / b }')"
        done
    } >>"$work/page"
done
[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}"
wait
pids=()

{
    printf '\n## A farm of 10,000 endpoints\n\n'
    printf '`scan --first` over 10,000 endpoints of 127.0.0.0/8 (a MySQL greeting, then TLS by OpenSSL with a P-256 certificate), farm and scanner on the\n'
    printf 'same machine. The last column is how many such first flights one core makes without any network: what the farm can do at most.\n\n'
    printf '| TLS | endpoints/s | seconds | connections | scanner CPU s | scanner peak MiB | farm CPU s | first flights/s of a core |\n|---|---|---|---|---|---|---|---|\n'
    for version in tls13 tls12 tls13 tls12 tls13 tls12; do
        "$farm" 10000 $version 2>"$work/farm.err" || cat "$work/farm.err" >&2
    done | sort | awk '{
        split("", v); for (i = 2; i <= NF; i++) { split($i, p, "="); v[p[1]] = p[2] }
        printf "| %s | %s | %s | %s | %.1f | %.1f | %.1f | %s |\n", $1, v["endpoints_per_s"], v["seconds"], v["connections"], \
            v["scanner_cpu_ms"] / 1000, v["scanner_peak_kib"] / 1024, v["farm_cpu_ms"] / 1000, v["handshakes_per_core_s"]
    }'
} >>"$work/page"
if [ -e "$out" ]; then sed -n '/^## Kept/,$p' "$out" >"$work/kept"; else : >"$work/kept"; fi
{ cat "$work/page" && if [ -s "$work/kept" ]; then printf '\n' && cat "$work/kept"; fi; } >"$out"
say "written: $out"
