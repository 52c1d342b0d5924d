#!/usr/bin/env bash
# Measures `sealion send | receive` beside `tar | socat OPENSSL | tar`, on loopback: bench-stream.sh SEALION RATIO [OUT]
#
# The same directory (BENCH_STREAM_MB of bytes that cannot be compressed in files of 64 MB, and 1,000 small ones; 1024) is copied by
# each tool in turn, in random order, BENCH_BLOCKS (9) times. Each copy ends when the receiver's file system has been synced, and both
# ends show certificates of the same CA. socat is that of the Galera bundle. RATIO is the example `ratio` of the crate bench. It writes
# the section between its marks of OUT (docs/benchmarks.md).
set -euo pipefail
export LC_ALL=C

[ $# -ge 2 ] || {
    printf 'usage: bench-stream.sh SEALION RATIO [OUT]\n' >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/bench-common.sh
. "$here/bench-common.sh"
sealion=$(absolute "$1") ratio=$(absolute "$2") out=$(absolute "${3:-docs/benchmarks.md}")
blocks=${BENCH_BLOCKS:-9} size_mb=${BENCH_STREAM_MB:-1024}
bundle=${SEALION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sealion}/bundles/galera-10.11
export LD_LIBRARY_PATH=$bundle/usr/lib/x86_64-linux-gnu:$bundle/lib/x86_64-linux-gnu
socat=$bundle/usr/bin/socat
[ -x "$socat" ] || {
    say "there is no socat in $bundle: sealion lab fetch galera-10.11"
    exit 3
}
# Not /tmp, which may be memory.
work=$(mktemp -d -p "${BENCH_DIR:-$PWD}" .bench-stream.XXXXXX)
pid=
trap finish EXIT
trap 'exit 130' INT TERM
port=24440
load_before=$(cut -d ' ' -f 1-3 /proc/loadavg)
cd "$work"

openssl() { env -u LD_LIBRARY_PATH openssl "$@" 2>/dev/null; }
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.pem
for end in a b; do
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=localhost" -keyout $end.key -out $end.csr
    printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\n' >ext
    openssl x509 -req -in $end.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out $end.pem
    cat $end.pem $end.key >$end.both
done
mkdir from
for ((at = 0; at * 64 < size_mb; at++)); do head -c 64000000 /dev/urandom >"from/t$at.ibd"; done
for ((at = 0; at < 1000; at++)); do head -c 2000 /dev/urandom >"from/s$at.frm"; done
data_mb=$(du -sm --apparent-size from | cut -f 1)
cat from/* >/dev/null

# took TOOL: seconds, CPU seconds of both ends.
took() {
    local began ended receiver TIMEFORMAT='%U %S'
    rm -rf into && sync -f .
    began=$(date +%s.%N)
    case $1 in
    sealion)
        { time "$sealion" receive into --listen 127.0.0.1:$port --ssl-ca ca.pem --ssl-cert a.pem --ssl-key a.key >r.said 2>&1; } 2>r.cpu &
        ;;
    socat*)
        mkdir into
        { time "$socat" -u -b "${1#socat}" \
            "OPENSSL-LISTEN:$port,bind=127.0.0.1,reuseaddr,cert=a.both,cafile=ca.pem,verify=1,openssl-min-proto-version=TLS1.3" \
            - 2>r.said | tar xf - -C into; } 2>r.cpu &
        ;;
    esac
    receiver=$!
    until grep -q ":$(printf '%04X' $port) 00000000:0000 0A" /proc/net/tcp; do sleep 0.005; done
    began=$(date +%s.%N)
    case $1 in
    sealion)
        { time "$sealion" send from --to localhost:$port --ssl-ca ca.pem --ssl-cert b.pem --ssl-key b.key >s.said 2>&1; } 2>s.cpu
        ;;
    socat*)
        { time tar cf - -C from . | "$socat" -u -b "${1#socat}" - \
            "OPENSSL:localhost:$port,cert=b.both,cafile=ca.pem,verify=1,openssl-min-proto-version=TLS1.3" 2>s.said; } 2>s.cpu
        ;;
    esac
    wait $receiver
    [ "$1" = sealion ] || sync -f into
    ended=$(date +%s.%N)
    diff -rq from into >/dev/null || {
        say "$1 did not copy all:"
        cat r.said s.said >&2
        exit 1
    }
    # The last line of each is its time.
    tail -qn 1 r.cpu s.cpu | awk -v began="$began" -v ended="$ended" '{ cpu += $1 + $2 } END { printf "%.3f %.3f\n", ended - began, cpu }'
}

arms=(sealion socat8192 socat1048576)
for arm in "${arms[@]}"; do took "$arm" >/dev/null; done
for ((block = 1; block <= blocks; block++)); do
    for arm in $(shuf -e "${arms[@]}"); do
        said=$(took "$arm")
        read -r seconds cpu <<<"$said"
        awk -v block="$block" -v arm="$arm" -v mb="$data_mb" -v s="$seconds" -v cpu="$cpu" 'BEGIN {
            printf "rate,%d,%s,%.3f\n", block, arm, mb / s; printf "cpu,%d,%s,%.3f\n", block, arm, cpu * 1000 / mb }' >>raw.csv
    done
    say "block $block of $blocks"
done

{
    printf '<!-- bench-stream.sh: from here -->\n## A directory to another host, encrypted\n\n'
    printf 'scripts/bench-stream.sh: %s MB that cannot be compressed, in files of 64 MB and 1,000 small ones, over loopback; %s copies with\n' "$data_mb" "$blocks"
    printf 'each tool, in turn. A copy ends when the file system of the receiver has been synced. TLS 1.3, both ends show certificates.\n'
    printf 'Ratios with intervals of 95 %%.\n'
    machine "$load_before"
    printf '\n| beside | MB/s | sealion MB/s | ratio | CPU s/GB | sealion CPU s/GB | ratio |\n|---|---|---|---|---|---|---|\n'
    for peer in socat8192 socat1048576; do
        grep -E ",(sealion|$peer)," raw.csv | "$ratio" "$peer" sealion | awk -F , -v peer="$peer" '
            { row[$1] = sprintf("%.2f | %.2f | %.2f (%.2f to %.2f)", $2, $3, $4, $5, $6) }
            END { sub(/socat/, "", peer); printf "| tar, socat -b %s, tar | %s | %s |\n", peer, row["rate"], row["cpu"] }'
    done
    printf '<!-- bench-stream.sh: to here -->\n'
} >page
replace_section '<!-- bench-stream.sh: from here -->' '<!-- bench-stream.sh: to here -->' page "$out"
