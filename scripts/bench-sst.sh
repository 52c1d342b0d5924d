#!/usr/bin/env bash
# Measures how a node's data gets to another one, encrypted: bench-sst.sh SEALION RATIO [OUT]
#
# What state transfers do, on loopback: mariabackup, tar and rsync through socat or stunnel with each cipher and in clear text, beside
# sealion, each with the processor's AES and without it (OPENSSL_ia32cap, for every program). A copy ends when the receiver's file system
# has been synced. mariabackup reads a running MariaDB that is written to meanwhile; tar, rsync and sealion DIR read a copy of its files that
# nobody writes to (their real methods hold a lock on the donor for as long). BENCH_SST_MB (1024) of InnoDB, half of which can be
# compressed; BENCH_BLOCKS (5) copies of each in random order; BENCH_SST_ARMS: only arms that match this expression.
# RATIO is the example `ratio` of the crate bench. It writes the section between its marks of OUT (docs/benchmarks.md).
set -euo pipefail
export LC_ALL=C

[ $# -ge 2 ] || {
    printf 'usage: bench-sst.sh SEALION RATIO [OUT]\n' >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/bench-common.sh
. "$here/bench-common.sh"
sealion=$(absolute "$1") ratio=$(absolute "$2") out=$(absolute "${3:-docs/benchmarks.md}")
blocks=${BENCH_BLOCKS:-5} size_mb=${BENCH_SST_MB:-1024} wanted=${BENCH_SST_ARMS:-.}
bundle=${SEALION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sealion}/bundles/galera-10.11
[ -x "$bundle/usr/bin/mariabackup" ] || {
    say "there is no mariabackup in $bundle: sealion lab fetch galera-10.11"
    exit 3
}
work=$(mktemp -d -p "${BENCH_DIR:-$PWD}" .bench-sst.XXXXXX)
pid= writer=
end() {
    [ -z "$writer" ] || kill "$writer" 2>/dev/null || true
    finish
}
trap end EXIT
trap 'exit 130' INT TERM
port=24450
load_before=$(cut -d ' ' -f 1-3 /proc/loadavg)
cd "$work"

for end in a b; do
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
        -addext "subjectAltName=DNS:localhost,IP:127.0.0.1" -keyout $end.key -out $end.pem 2>/dev/null
    cat $end.pem $end.key >$end.both
    chmod 600 $end.key $end.both
done

start_mariadb "$work/server" $((port + 5)) --innodb-log-file-size=256M --innodb-buffer-pool-size=256M --skip-networking
export LD_LIBRARY_PATH=$bundle/usr/lib/x86_64-linux-gnu:$bundle/lib/x86_64-linux-gnu
PATH=$bundle/usr/bin:$PATH
sql() { mariadb --no-defaults -uroot -S "$work/server/socket" -BN "$@"; }
sql -e 'CREATE DATABASE bench; CREATE TABLE bench.w (id INT AUTO_INCREMENT PRIMARY KEY, t TEXT)'
# Four tables, of each row half random bytes.
for table in 1 2 3 4; do
    sql bench -e "CREATE TABLE t$table (id INT AUTO_INCREMENT PRIMARY KEY, r BLOB, c BLOB);
        INSERT INTO t$table (r, c) SELECT RANDOM_BYTES(1000), REPEAT('a row that is like the next one ', 31) FROM seq_1_to_$((size_mb * 115))"
    # Into the file: what is only in the log is no data to copy.
    sql bench -e "FLUSH TABLES t$table FOR EXPORT; UNLOCK TABLES"
done
backup="mariabackup --no-defaults --backup --stream=xbstream --user=root --socket=$work/server/socket --datadir=$work/server/data --target-dir=$work/target"
$backup 2>backup.log | mbstream -x -C "$(mkdir -p from && echo from)"
data_mb=$(du -sm --apparent-size from | cut -f 1)
cat from/*/* >/dev/null 2>&1 || true
# Somebody who writes all the time, a row a transaction.
yes "INSERT INTO w (t) VALUES ('row');" | sql bench >/dev/null 2>&1 &
writer=$!

inserts() { sql -e "SHOW GLOBAL STATUS LIKE 'Com_insert'" | cut -f 2; }
ticks() { awk '{ print ($14 + $15) / 100 }' "/proc/$pid/stat"; }
suite() {
    case $1 in
    plain) echo ;;
    default) echo "openssl-min-proto-version=TLS1.3" ;;
    AES128) echo "openssl-max-proto-version=TLS1.2,cipher=ECDHE-ECDSA-AES128-GCM-SHA256" ;;
    AES256) echo "openssl-max-proto-version=TLS1.2,cipher=ECDHE-ECDSA-AES256-GCM-SHA384" ;;
    CHACHA20) echo "openssl-max-proto-version=TLS1.2,cipher=ECDHE-ECDSA-CHACHA20-POLY1305" ;;
    esac
}
listens() { until grep -q ":$(printf '%04X' "$1") 00000000:0000 0A" /proc/net/tcp; do sleep 0.005; done; }
# The programs under `time`, whose last line is user and system seconds of all of them.
timed() {
    local file=$1 TIMEFORMAT='%U %S'
    shift
    { time "$@" >>"$file.said" 2>&1; } 2>"$file.cpu"
}
socat_in() { # CIPHER PROGRAM...
    local cipher=$1
    shift
    if [ "$cipher" = plain ]; then
        socat -u -b 1048576 "TCP-LISTEN:$port,bind=127.0.0.1,reuseaddr" - | "$@"
    else
        socat -u -b 1048576 "OPENSSL-LISTEN:$port,bind=127.0.0.1,reuseaddr,cert=a.both,cafile=b.pem,verify=1,$(suite "$cipher")" - | "$@"
    fi
}
socat_out() {
    if [ "$1" = plain ]; then
        socat -u -b 1048576 - "TCP:127.0.0.1:$port"
    else
        socat -u -b 1048576 - "OPENSSL:localhost:$port,cert=b.both,cafile=a.pem,verify=1,$(suite "$1")"
    fi
}
backup_out() { $backup 2>>s.said | socat_out "$1"; }
tar_out() { tar cf - -C from . | socat_out "$1"; }
rsync_files() { rsync -a --whole-file from/ "rsync://127.0.0.1:$1/into/"; }
cipher_option() { case $1 in default) ;; *) echo "--cipher ${1,,}" ;; esac }
sealion_in() { "$sealion" receive into --listen 127.0.0.1:$port --code-file code; }
# shellcheck disable=SC2046
sealion_out() { "$sealion" send "${@:2}" --to 127.0.0.1:$port --code-file code --compress none $(cipher_option "$1"); }

# took TOOL CIPHER: seconds, CPU seconds of all, writes a second meanwhile.
took() {
    local tool=$1 cipher=$2 began ended receiver before cpu_before writes
    rm -rf into target code ./*.said ./*.cpu
    sync -f .
    case $tool in
    mariabackup) mkdir into && timed r socat_in "$cipher" mbstream -x -C into & ;;
    tar) mkdir into && timed r socat_in "$cipher" tar xf - -C into & ;;
    rsync)
        mkdir into
        printf 'use chroot = no\n[into]\npath = %s/into\nread only = no\nuid = %s\ngid = %s\n' "$work" "$(id -u)" "$(id -g)" >rsyncd.conf
        timed r rsync --daemon --no-detach --config=rsyncd.conf --address=127.0.0.1 --port=$port &
        ;;
    sealion | sealion-live) timed r sealion_in & ;;
    esac
    receiver=$!
    listens $port
    before=$(inserts) cpu_before=$(ticks) began=$(date +%s.%N)
    case $tool in
    mariabackup) timed s backup_out "$cipher" ;;
    tar) timed s tar_out "$cipher" ;;
    rsync)
        if [ "$cipher" = plain ]; then
            timed s rsync_files $port
        else
            printf 'foreground = yes\npid =\nsocket = l:TCP_NODELAY=1\n[in]\naccept = 127.0.0.1:%s\nconnect = 127.0.0.1:%s\ncert = %s/a.both\nCAfile = %s/b.pem\nverifyPeer = yes\n%s\n' \
                $((port + 1)) $port "$work" "$work" "$(stunnel_suite "$cipher")" >in.conf
            printf 'foreground = yes\npid =\nclient = yes\n[out]\naccept = 127.0.0.1:%s\nconnect = 127.0.0.1:%s\ncert = %s/b.both\nCAfile = %s/a.pem\nverifyPeer = yes\n%s\n' \
                $((port + 2)) $((port + 1)) "$work" "$work" "$(stunnel_suite "$cipher")" >out.conf
            timed t stunnel4 in.conf &
            local one=$!
            timed u stunnel4 out.conf &
            local two=$!
            listens $((port + 1))
            listens $((port + 2))
            began=$(date +%s.%N)
            timed s rsync_files $((port + 2))
            pkill -INT -P $one || true
            pkill -INT -P $two || true
            wait $one $two || true
        fi
        ;;
    sealion) timed s sealion_out "$cipher" from ;;
    sealion-live) timed s sealion_out "$cipher" --from-command "$backup" ;;
    esac
    if [ "$tool" = rsync ]; then pkill -INT -P $receiver || true; fi
    wait $receiver || [ "$tool" = rsync ]
    sync -f into
    ended=$(date +%s.%N)
    writes=$(($(inserts) - before))
    [ -n "$(find into -name 't4.ibd' -size +1M)" ] || {
        say "$tool $cipher did not copy all: $(find into | wc -l) of $(find from | wc -l) files"
        cat ./*.said >&2
        exit 1
    }
    tail -qn 1 ./*.cpu | awk -v began="$began" -v ended="$ended" -v server="$(ticks)" -v was="$cpu_before" -v writes=$writes \
        -v live="$(case $tool in mariabackup | sealion-live) echo 1 ;; *) echo 0 ;; esac)" '
        { cpu += $1 + $2 }
        END { printf "%.3f %.3f %.0f\n", ended - began, cpu, live ? writes / (ended - began) : -1 }'
}
stunnel_suite() {
    case $1 in
    default) echo "sslVersionMin = TLSv1.3" ;;
    *) printf 'sslVersionMax = TLSv1.2\nciphers = %s\n' "$(suite "$1" | sed 's/.*cipher=//')" ;;
    esac
}

arms=()
for aes in on off; do
    for tool in mariabackup tar rsync; do
        for cipher in plain default AES128 AES256 CHACHA20; do arms+=("$tool $cipher $aes"); done
    done
    for tool in sealion-live sealion; do
        for cipher in default AES128 AES256 CHACHA20; do arms+=("$tool $cipher $aes"); done
    done
done
mapfile -t arms < <(printf '%s\n' "${arms[@]}" | grep -E "$wanted")
# run ARM: as took, with or without the processor's AES (and what else belongs to that word: AVX-512, SHA).
run() {
    local tool cipher aes
    read -r tool cipher aes <<<"$1"
    if [ "$aes" = off ]; then
        OPENSSL_ia32cap='~0x200000200000000' took "$tool" "$cipher"
    else
        took "$tool" "$cipher"
    fi
}
idle_from=$(inserts)
sleep 3
idle=$((($(inserts) - idle_from) / 3))
for ((block = 1; block <= blocks; block++)); do
    while read -r arm; do
        said=$(run "$arm")
        read -r seconds cpu writes <<<"$said"
        awk -v block="$block" -v arm="$arm" -v mb="$data_mb" -v s="$seconds" -v cpu="$cpu" -v writes="$writes" 'BEGIN {
            printf "rate,%d,%s,%.3f\n", block, arm, mb / s; printf "cpu,%d,%s,%.3f\n", block, arm, cpu * 1000 / mb
            printf "writes,%d,%s,%d\n", block, arm, writes }' >>raw.csv
    done < <(shuf -e "${arms[@]}")
    say "block $block of $blocks"
done

# part ARM ARM: the ratio of the second to the first, with its interval, as `rate` and `cpu`.
versus() {
    grep -E ",($1|$2)," raw.csv | grep -v '^writes' | "$ratio" "$1" "$2" | awk -F , '
        { row[$1] = sprintf("%.2f (%s to %s)", $4, $5 == "" ? "?" : sprintf("%.2f", $5), $6 == "" ? "?" : sprintf("%.2f", $6)) }
        END { printf "%s | %s", row["rate"], row["cpu"] }'
}
{
    printf '<!-- bench-sst.sh: from here -->\n## A state transfer, encrypted\n\n'
    printf 'scripts/bench-sst.sh: %s MB of InnoDB, half of which can be compressed, over loopback; %s copies of each kind, in random order. A copy ends\n' "$data_mb" "$blocks"
    printf 'when the file system of the receiver has been synced. socat with blocks of 1 MiB; ciphers by name are TLS 1.2 (socat, stunnel) or 1.3 (sealion),\n'
    printf '"default" is TLS 1.3, and for sealion what both ends have measured. Without AES: OPENSSL_ia32cap, a processor without AES-NI, AVX-512 and SHA. CPU\n'
    printf 'seconds are those of all programs of both ends. Writes: rows a second into the server that mariabackup reads (alone: %s). tar, rsync and sealion DIR\n' "$idle"
    printf 'copy files that nobody writes to: as a state transfer they would block writes for as long.\n'
    machine "$load_before"
    printf '\n| with | cipher | AES | MB/s | CPU s/GB | writes/s |\n|---|---|---|---|---|---|\n'
    for arm in "${arms[@]}"; do
        awk -F , -v arm="$arm" '$3 == arm { sum[$1] += $4; count[$1]++ }
            END { split(arm, part, " "); writes = sum["writes"] / count["writes"]
                printf "| %s | %s | %s | %.0f | %.2f | %s |\n", part[1], part[2], part[3], sum["rate"] / count["rate"],
                    sum["cpu"] / count["cpu"], writes < 0 ? "-" : sprintf("%.0f", writes) }' raw.csv
    done
    printf '\nRatios with intervals of 95 %%:\n\n| beside | AES | rate | CPU s/GB |\n|---|---|---|---|\n'
    for aes in on off; do
        for pair in "mariabackup default:sealion-live default" "mariabackup plain:sealion-live default" "tar default:sealion default" "tar plain:sealion default" "rsync default:sealion default"; do
            one="${pair%%:*} $aes" other="${pair##*:} $aes"
            if grep -q ",$one," raw.csv && grep -q ",$other," raw.csv; then
                printf '| %s beside %s | %s | %s |\n' "${other% *}" "${one% *}" "$aes" "$(versus "$one" "$other")"
            fi
        done
    done
    printf '\nPublished in 2017 for 122 GB between two hosts with 10 Gbit/s, in words: the backup tool is the fastest way with AES in hardware; without it, several\n'
    printf 'rsyncs side by side win with AES, and ChaCha20 is 2 to 3 times faster than AES; rsync blocks the donor, the backup tool does not.\n'
    printf '<!-- bench-sst.sh: to here -->\n'
} >page
replace_section '<!-- bench-sst.sh: from here -->' '<!-- bench-sst.sh: to here -->' page "$out"
