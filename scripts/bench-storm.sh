#!/usr/bin/env bash
# Measures connections: `sealion bench load connect` beside a Go client, mysql_async and mariadb-slap on the same server:
#
#   bench-storm.sh SEALION RATIO [OUT]
#
# Starts MariaDB 10.11 on loopback (RSA-2048). Each tool connects and says goodbye for a few seconds, in clear text and over TLS
# with the same check of chain and name (sealion by rustls, and by OpenSSL as one of the others), in blocks in which each runs once, in an order that rotates. CPU time is that of
# the whole process by its connections. It writes the section "Connections" of OUT (docs/benchmarks.md), between two marks.
#
#   BENCH_STORM_BLOCKS (5: fewer give no interval)   BENCH_STORM_SECONDS of a trial (3)
#   BENCH_STORM_THREADS ("1 8")                      BENCH_STORM_PORT (21795)
set -euo pipefail
export LC_ALL=C

[ $# -ge 2 ] || {
    printf 'usage: bench-storm.sh SEALION RATIO [OUT]\n' >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/bench-common.sh
. "$here/bench-common.sh"
sealion=$(absolute "$1") ratio=$(absolute "$2") out=$(absolute "${3:-docs/benchmarks.md}")
blocks=${BENCH_STORM_BLOCKS:-5}
seconds=${BENCH_STORM_SECONDS:-3}
read -ra levels <<<"${BENCH_STORM_THREADS:-1 8}"
port=${BENCH_STORM_PORT:-21795}
readonly begin='<!-- bench-storm.sh: from here -->' end='<!-- bench-storm.sh: to here -->'

cache=${SEALION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sealion}
lib=$cache/bundles/galera-10.11
tools=(sealion openssl go mysql_async slap slap-store)
command -v go >/dev/null || {
    say "go is not here: the client in Go is left out"
    tools=(sealion openssl mysql_async slap slap-store)
}
work=$(mktemp -d)
pid=
trap finish EXIT
trap 'exit 130' INT TERM

say "building the clients to compare with"
if [ "${tools[2]}" = go ]; then (cd "$here/storm/go" && go build -o "$work/go" .); fi
CARGO_TARGET_DIR=$cache/storm cargo build --quiet --release --locked --manifest-path "$here/storm/rust/Cargo.toml"
# A CA and a leaf of its own: rustls takes no CA for a server.
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '/CN=storm CA' -keyout "$work/ca.key" -out "$work/ca.pem" 2>/dev/null
openssl req -newkey rsa:2048 -nodes -subj '/CN=storm' -keyout "$work/leaf.key" -out "$work/leaf.csr" 2>/dev/null
printf 'subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n' >"$work/leaf.ext"
openssl x509 -req -in "$work/leaf.csr" -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial -days 2 \
    -extfile "$work/leaf.ext" -out "$work/leaf.pem" 2>/dev/null
load=$(cut -d ' ' -f 1-3 /proc/loadavg)
start_mariadb "$work/server" "$port" --max-connections=1000 "--ssl-ca=$work/ca.pem" \
    "--ssl-cert=$work/leaf.pem" "--ssl-key=$work/leaf.key"
cd "$work"
ca=$work/ca.pem

# run TOOL TLS THREADS: connections and seconds.
run() {
    local tool=$1 tls=$2 threads=$3 file=-
    [ "$tls" = plain ] || file=$ca
    case $tool in
    sealion | openssl)
        local words=(--ssl-mode DISABLED)
        if [ "$tls" = tls ]; then
            words=(--ssl-mode VERIFY_IDENTITY "--ssl-ca=$ca")
            [ "$tool" = openssl ] || words+=(--tls-library rustls)
        fi
        "$sealion" --format json bench load connect --no-store -h 127.0.0.1 -P "$port" -u root -c "$threads" --warm-up 0 \
            --time "$seconds" "${words[@]}" | awk '/^  "(events|measured_s)":/ { gsub(/,/, ""); printf "%s ", $2 }
                /^  "server_cpu_us_per_query":/ { gsub(/,/, ""); server = $2 } END { print server }' |
            awk '{ print $2, $1, $3 }'
        ;;
    go) "$work/go" 127.0.0.1 "$port" "$file" "$seconds" "$threads" ;;
    mysql_async) "$cache/storm/release/storm" 127.0.0.1 "$port" "$file" "$seconds" "$threads" ;;
    slap | slap-store)
        # It takes a number, not a time. Each query has a connection of its own.
        local count=$((threads * 60)) began words=(--skip-ssl)
        [ "$tls" = plain ] || words=("--ssl-ca=$ca" --ssl-verify-server-cert)
        [ "$tls/$tool" != tls/slap-store ] || words=(--ssl)
        [ "$tls" = tls ] || count=$((count * 20))
        began=$(date +%s.%N)
        env "LD_LIBRARY_PATH=$lib/usr/lib/x86_64-linux-gnu:$lib/lib/x86_64-linux-gnu" "$lib/usr/bin/mariadb-slap" \
            --no-defaults --protocol=tcp -h 127.0.0.1 -P "$port" -u root --concurrency="$threads" --detach=1 \
            --number-of-queries=$count --create-schema=mysql --query='DO 1' "${words[@]}" >"$work/slap"
        printf '%s %s %s\n' $count "$began" "$(date +%s.%N)" | awk '{ print $1, $3 - $2 }'
        ;;
    esac
}

# CPU time of the server so far, in us.
server_us() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*[)] /, ""); printf "%.0f", ($12 + $13) * 1e6 / hz }' "/proc/$pid/stat"; }

trial() { # trial BLOCK TOOL TLS THREADS
    local block=$1 TIMEFORMAT='%U %S' took before after
    shift
    case $2/$1 in plain/openssl | plain/slap-store) return ;; esac
    before=$(server_us)
    took=$({ time run "$@" >"$work/said" 2>"$work/errors"; } 2>&1) || {
        say "$* failed:"
        cat "$work/said" "$work/errors" >&2
        exit 1
    }
    after=$(server_us)
    printf '%s %s\n' "$(cut -d ' ' -f 1-2 "$work/said")" "$took" |
        awk -v name="$2/$3" -v block="$block" -v tool="$1" -v server=$((after - before)) '{
            client = ($3 + $4) * 1e6 / $1
            printf "%s/per_s,%d,%s,%.4f\n%s/cpu_us,%d,%s,%.3f\n", name, block, tool, $1 / $2, name, block, tool, client
            printf "%s/both_us,%d,%s,%.3f\n", name, block, tool, client + server / $1 }' >>raw.csv
    if [ "$1" = sealion ]; then awk -v key="$2/$3" '{ print key, $3 }' "$work/said" >>shares; fi
}

say "$((blocks * ${#tools[@]} * 2 * ${#levels[@]})) trials of some $seconds s"
for block in $(seq "$blocks"); do
    for tls in plain tls; do
        for threads in "${levels[@]}"; do
            for at in "${!tools[@]}"; do trial "$block" "${tools[(at + block) % ${#tools[@]}]}" $tls "$threads"; done
        done
    done
    say "block $block of $blocks, load $(cut -d ' ' -f 1-3 /proc/loadavg)"
done

{
    printf '%s\n# Connections\n\n' "$begin"
    printf '`sealion bench load connect` beside other clients on the same server, by `make bench` (scripts/bench-storm.sh).\n'
    machine "$load"
    printf '\n'
    printf 'MariaDB 10.11 with RSA-2048; over TLS everybody checks the chain and the name. Connect and say goodbye, nothing else\n'
    printf '(mariadb-slap: one `DO 1`); sealion is `--tls-library rustls`, and what OpenSSL makes of it is beside. Blocks: %s, trials of %s s, the order rotates. Ratios are sealion by the other within\n' "$blocks" "$seconds"
    printf 'blocks, with their 95 %% interval. CPU is user and system time of the whole client process by its connections, and of client and\n'
    printf 'server together: what the kernel does for a connection is booked on whichever of the two was running.\n'
    for tls in plain tls; do
        for threads in "${levels[@]}"; do
            printf '\n## %s, %s at once\n\n' "$([ $tls = plain ] && echo 'Clear text' || echo TLS)" "$threads"
            printf '| client | connections/s | ratio | CPU us a connection | ratio | with the server | ratio |\n|---|---|---|---|---|---|---|\n'
            for tool in "${tools[@]:1}"; do
                case $tls/$tool in plain/openssl | plain/slap-store) continue ;; esac # In clear text they are the same as another.
                grep "^$tls/$threads/" raw.csv | grep -E ",(sealion|$tool)," | "$ratio" "$tool" sealion | awk -F , -v tool="$tool" '
                    BEGIN { if (tool == "openssl") tool = "sealion by OpenSSL"; if (tool == "slap") tool = "mariadb-slap"; if (tool == "slap-store") tool = "mariadb-slap without --ssl-ca" }
                    { between = $5 == "" ? $4 : $4 " (" $5 " to " $6 ")" }
                    $1 ~ /per_s$/ { printf "| %s | %.1f | %s ", tool, $2, between; ours = $3 }
                    $1 ~ /cpu_us$/ { printf "| %.0f | %s ", $2, between; cpu = $3 }
                    $1 ~ /both_us$/ { printf "| %.0f | %s |\n", $2, between; both = $3 }
                    END { printf "%.1f %.0f %.0f\n", ours, cpu, both > "ours" }'
            done
            awk '{ printf "| **sealion** | %s | | %s | | %s | |\n", $1, $2, $3 }' ours
            awk -v key="$tls/$threads" -v cores="$(nproc)" '$1 == key && $2 > 0 { sum += $2; n++ }
                END { if (n) printf "\nThe server spends %.0f us of CPU on each of ours: with %s cores of its own it would take %.0f a second.\n", sum / n, cores, cores * 1e6 * n / sum }' shares
        done
    done
    printf '\nWithout --ssl-ca nothing is checked, and yet the library of mariadb-slap reads the whole store of the system'\''s CAs for\n'
    printf 'every connection (%s certificates here): that is its last row.\n' "$(grep -c BEGIN /etc/ssl/certs/ca-certificates.crt 2>/dev/null || echo unknown)"
    printf '\nsealion %s' "$("$sealion" --version | awk '{ print $2 }')"
    if [ "${tools[2]}" = go ]; then
        printf ', %s with go-sql-driver/mysql %s' "$(go env GOVERSION)" \
            "$(awk '/go-sql-driver\/mysql / { print $NF; exit }' "$here/storm/go/go.mod")"
    fi
    printf ', mysql_async %s, %s. The command of ours, over TLS:\n\n```\n' \
        "$(awk -F '"' '/^name = "mysql_async"/ { getline; print $2 }' "$here/storm/rust/Cargo.lock")" \
        "$(env "LD_LIBRARY_PATH=$lib/usr/lib/x86_64-linux-gnu:$lib/lib/x86_64-linux-gnu" "$lib/usr/bin/mariadb-slap" --version | awk '{ print $1, $5 }' | sed 's#.*/##; s/,$//')"
    printf 'sealion bench load connect --no-store -h 127.0.0.1 -P %s -u root -c 8 --warm-up 0 --time %s --ssl-mode VERIFY_IDENTITY \\\n' "$port" "$seconds"
    printf '    --ssl-ca=ca.pem --tls-library rustls\n```\n\nAll of it: `BENCH_STORM_BLOCKS=%s BENCH_STORM_SECONDS=%s BENCH_STORM_THREADS="%s" make bench`\n' \
        "$blocks" "$seconds" "${levels[*]}"
    printf '%s\n' "$end"
} >page
replace_section "$begin" "$end" "$work/page" "$out"
