#!/usr/bin/env bash
# Measures how a node's data gets to another one, encrypted: bench-sst.sh SEALION RATIO [OUT]
#
# What state transfers do, on loopback: mariabackup, tar and rsync through socat or stunnel with each cipher and in clear text, beside
# sealion, each with the processor's AES and without it (OPENSSL_ia32cap, for every program). A copy ends when the receiver's file system
# has been synced, and counts only if it is whole: names, sizes and checksums of all files are those of the source. mariabackup reads a
# running MariaDB that is written to meanwhile; tar, rsync and sealion DIR read a copy of its files that nobody writes to (their real methods
# hold a lock on the donor for as long). The arms:
#   mariabackup, tar, rsync   through socat (rsync: stunnel), with a cipher or "plain"
#   sealion-live, sealion     send | receive of what mariabackup writes, of the files
#   clear-live, clear         the same program, built without TLS (crates/stream/examples/clear_copy.rs)
#   steps, fly                a compressed stream whose files are encrypted by xbcrypt: received, then decrypted, then decompressed; or by
#                             `sealion receive` in one go
# BENCH_SST_MB (1024) of InnoDB, half of which can be compressed. BENCH_BLOCKS (5) copies with each arm that a goal is about, in random
# order; BENCH_SST_CROSS (half as many) copies with the others; BENCH_SST_ARMS: only arms that match this expression.
# RATIO is the example `ratio` of the crate bench; those of the crate stream lie beside it:
#   cargo build --release -p stream --features clear --examples
# It writes the section between its marks of OUT (docs/benchmarks.md).
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
cross=${BENCH_SST_CROSS:-$((blocks > 1 ? blocks / 2 : 1))}
examples=$(dirname "$ratio")
for example in clear_copy relay limits; do
    [ -x "$examples/$example" ] || {
        say "there is no $example in $examples: cargo build --release -p stream --features clear --examples"
        exit 3
    }
done
bundle=${SEALION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sealion}/bundles/galera-10.11
[ -x "$bundle/usr/bin/mariabackup" ] || {
    say "there is no mariabackup in $bundle: sealion lab fetch galera-10.11"
    exit 3
}
work=$(mktemp -d -p "${BENCH_DIR:-$PWD}" .bench-sst.XXXXXX)
pid= writer= line=
end() {
    for one in $writer $line; do kill "$one" 2>/dev/null || true; done
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
# Somebody who writes all the time, a row a transaction, and no more of them than a server has time for beside a backup.
offered=200
while kill -0 "$pid" && printf "INSERT INTO w (t) VALUES ('row');\n%.0s" {1..10}; do
    sleep 0.05
done 2>/dev/null | mariadb --no-defaults -uroot -S "$work/server/socket" bench >/dev/null 2>&1 &
writer=$!
# Twice: what differs is what changes while a server runs.
for copy in before from; do
    mkdir $copy
    $backup 2>backup.log | mbstream -x -C $copy
    rm -rf target
    sleep 1
done
data_mb=$(du -sm --apparent-size from | cut -f 1)
# sums DIR: checksum, size and name of each file.
sums() { (cd "$1" && find . -type f -printf '%P\n' | xargs -d '\n' cksum) | sort; }
sums before >before.sums
sums from >from.sums
comm -12 before.sums from.sums | grep -Ev ' (bench/w.ibd|xtrabackup_.*|ib_logfile0|ibdata1|undo[0-9]*|aria_log.*|mysql/.*)$' >steady.sums
rm -rf before
[ "$(grep -c ' bench/t[1-4]' steady.sums)" -ge 8 ] || {
    say "tables that nobody writes to differ between two backups"
    exit 1
}
# is_whole LIVE: a copy of files that nobody writes to is the same; one of a running server has the same names, and what nobody has written.
is_whole() {
    sums into >into.sums
    if [ "$1" = live ]; then
        diff <(cut -d ' ' -f 3- from.sums | sort) <(cut -d ' ' -f 3- into.sums | sort) && comm -23 steady.sums into.sums | diff - /dev/null
    else
        diff from.sums into.sums
    fi
}
# As XtraBackup makes them: each file compressed, then encrypted, all of them in a stream.
printf %s 0123456789abcdef0123456789abcdef >xbkey
chmod 600 xbkey
crypt() { "$sealion" xbcrypt "$@" --encrypt-algo AES256 --encrypt-key-file "$work/xbkey"; }
mkdir packed
(cd from && find . -type f -printf '%P\n') | while read -r file; do
    mkdir -p "packed/$(dirname "$file")"
    zstd -q -1 -c "from/$file" | crypt 2>>crypt.log >"packed/$file.zst.xbcrypt"
done
(cd packed && find . -type f -printf '%P\n' | xargs -d '\n' mbstream -c) >packed.xb
rm -rf packed
packed_mb=$(du -sm --apparent-size packed.xb | cut -f 1)
delay_ms=10 mbit_per_s=1000
"$examples/relay" 127.0.0.1:$((port + 3)) 127.0.0.1:$port $delay_ms $mbit_per_s &
line=$!

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
# Where senders connect to.
to=$port
socat_out() {
    if [ "$1" = plain ]; then
        socat -u -b 1048576 - "TCP:127.0.0.1:$to"
    else
        socat -u -b 1048576 - "OPENSSL:localhost:$to,cert=b.both,cafile=a.pem,verify=1,$(suite "$1")"
    fi
}
backup_out() { $backup 2>>s.said | socat_out "$1"; }
tar_out() { tar cf - -C from . | socat_out "$1"; }
rsync_files() { rsync -a --whole-file from/ "rsync://127.0.0.1:$1/into/"; }
cipher_option() { case $1 in default) ;; *) echo "--cipher ${1,,}" ;; esac }
sealion_in() { "$sealion" receive into --listen 127.0.0.1:$port --code-file code "$@"; }
# shellcheck disable=SC2046
sealion_out() { "$sealion" send "${@:2}" --to 127.0.0.1:$to --code-file code $(cipher_option "$1"); }
# The second and third step, files side by side as xtrabackup --parallel does; each makes room for the next one.
decrypted() { find into -name '*.xbcrypt' -print0 | xargs -0 -P "$(nproc)" -I FILE sh -c '"$1" xbcrypt -d -a AES256 -f "$2" -i "$3" 2>>decrypted >"${3%.xbcrypt}" && rm "$3"' - "$sealion" "$work/xbkey" FILE; }
decompressed() { find into -name '*.zst' -print0 | xargs -0 -P "$(nproc)" -n 1 zstd -q -d --rm; }
steps_in() {
    socat_in "$1" mbstream -x -C into
    decrypted
    decompressed
}

# took TOOL CIPHER: seconds, CPU seconds of all, writes a second meanwhile.
took() {
    local tool=$1 cipher=$2 began ended receiver before writes live=files
    rm -rf into target code ./*.said ./*.cpu
    sync -f .
    case $tool in
    mariabackup) mkdir into && timed r socat_in "$cipher" mbstream -x -C into & ;;
    steps) mkdir into && timed r steps_in "$cipher" & ;;
    tar) mkdir into && timed r socat_in "$cipher" tar xf - -C into & ;;
    rsync)
        mkdir into
        printf 'use chroot = no\n[into]\npath = %s/into\nread only = no\nuid = %s\ngid = %s\n' "$work" "$(id -u)" "$(id -g)" >rsyncd.conf
        timed r rsync --daemon --no-detach --config=rsyncd.conf --address=127.0.0.1 --port=$port &
        ;;
    sealion | sealion-live) timed r sealion_in & ;;
    fly) timed r sealion_in --decrypt AES256 --encrypt-key-file xbkey --decompress & ;;
    clear | clear-live) timed r "$examples/clear_copy" receive into 127.0.0.1:$port & ;;
    esac
    receiver=$!
    listens $port
    case $tool in *-live | mariabackup) live=live ;; esac
    before=$(inserts) began=$(date +%s.%N)
    case $tool in
    mariabackup) timed s backup_out "$cipher" ;;
    steps) timed s socat_out "$cipher" <packed.xb ;;
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
            pkill -TERM -P $one || true
            pkill -TERM -P $two || true
            wait $one $two || true
        fi
        ;;
    # Over a slow line it may compress, as it does by itself.
    sealion) timed s sealion_out "$cipher" --compress none from ;;
    sealion-live) timed s sealion_out "$cipher" --compress "$([ $to = $port ] && echo none || echo auto)" --from-command "$backup" ;;
    fly) timed s sealion_out "$cipher" --compress none - <packed.xb ;;
    clear) timed s "$examples/clear_copy" send from 127.0.0.1:$to ;;
    clear-live) timed s "$examples/clear_copy" send-command "$backup" 127.0.0.1:$to ;;
    esac
    if [ "$tool" = rsync ]; then pkill -TERM -P $receiver || true; fi
    wait $receiver || [ "$tool" = rsync ]
    sync -f into
    ended=$(date +%s.%N)
    writes=$(($(inserts) - before))
    is_whole $live >differs || {
        say "$tool $cipher is no whole copy:"
        tail -n 20 differs ./*.said >&2
        exit 1
    }
    tail -qn 1 ./*.cpu | awk -v began="$began" -v ended="$ended" -v writes=$writes -v live=$live '
        { cpu += $1 + $2 }
        END { printf "%.3f %.3f %.0f\n", ended - began, cpu, live == "live" ? writes / (ended - began) : -1 }'
}
stunnel_suite() {
    case $1 in
    default) echo "sslVersionMin = TLSv1.3" ;;
    *) printf 'sslVersionMax = TLSv1.2\nciphers = %s\n' "$(suite "$1" | sed 's/.*cipher=//')" ;;
    esac
}

# TOOL CIPHER AES LINE. First those that goals are about.
goals=()
for tool in mariabackup sealion-live tar sealion steps fly; do goals+=("$tool default on loopback"); done
for tool in mariabackup clear-live clear; do goals+=("$tool plain on loopback"); done
for cipher in default AES128 AES256 CHACHA20; do goals+=("sealion $cipher off loopback"); done
for tool in mariabackup sealion-live; do goals+=("$tool default on relay"); done
others=()
for cipher in AES128 AES256 CHACHA20; do
    others+=("mariabackup $cipher on loopback" "sealion $cipher on loopback")
done
for cipher in plain default AES128 AES256 CHACHA20; do others+=("mariabackup $cipher off loopback"); done
for tool in tar rsync; do
    for cipher in plain AES128 CHACHA20; do others+=("$tool $cipher on loopback"); done
    others+=("$tool default off loopback" "$tool CHACHA20 off loopback")
done
others+=("rsync default on loopback" "sealion-live default off loopback")
only() { printf '%s\n' "$@" | grep -E "$wanted" || true; }
mapfile -t goals < <(only "${goals[@]}")
mapfile -t others < <(only "${others[@]}")
arms=("${goals[@]}" "${others[@]}")
# run ARM: as took, with or without the processor's AES (and what else belongs to that word: AVX-512, SHA).
run() {
    local tool cipher aes over to=$port
    read -r tool cipher aes over <<<"$1"
    [ "$over" = loopback ] || to=$((port + 3))
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
    # The others in blocks that lie between.
    now=("${goals[@]}")
    if ((block * cross / blocks > (block - 1) * cross / blocks)); then now+=("${others[@]}"); fi
    rm -rf into
    sync -f .
    "$examples/limits" . "$data_mb" | sed "s/^\([^,]*\),/limit,$block,\1,/" >>limits.csv
    while read -r arm; do
        [ -n "$arm" ] || continue
        said=$(run "$arm")
        read -r seconds cpu writes <<<"$said"
        awk -v block="$block" -v arm="$arm" -v mb="$data_mb" -v s="$seconds" -v cpu="$cpu" -v writes="$writes" 'BEGIN {
            printf "rate,%d,%s,%.3f\n", block, arm, mb / s; printf "cpu,%d,%s,%.3f\n", block, arm, cpu * 1000 / mb
            printf "writes,%d,%s,%d\n", block, arm, writes }' >>raw.csv
    done < <(shuf -e "${now[@]}")
    say "block $block of $blocks"
done

# versus ARM ARM: the ratio of the second to the first, with its interval, as `rate` and `cpu`.
versus() {
    grep -E ",($1|$2)," raw.csv | grep -v '^writes' | "$ratio" "$1" "$2" | awk -F , '
        { row[$1] = sprintf("%.2f (%s to %s)", $4, $5 == "" ? "?" : sprintf("%.2f", $5), $6 == "" ? "?" : sprintf("%.2f", $6)) }
        END { printf "%s | %s", row["rate"], row["cpu"] }'
}
# compared GOAL ARM ARM: a row, where both were measured.
compared() {
    if grep -q ",$2," raw.csv && grep -q ",$3," raw.csv; then
        printf '| %s | %s | %s | %s |\n' "$3" "$2" "$(versus "$2" "$3")" "$1"
    fi
}
{
    printf '<!-- bench-sst.sh: from here -->\n## A state transfer, encrypted\n\n'
    printf 'scripts/bench-sst.sh: %s MB of InnoDB, half of which can be compressed, over loopback; %s copies of each kind that a ratio below is about and %s\n' "$data_mb" "$blocks" "$cross"
    printf 'of the others, in random order. A copy ends when the file system of the receiver has been synced; names, sizes and checksums of all files were\n'
    printf 'compared with the source behind each. socat with blocks of 1 MiB; ciphers by name are TLS 1.2 (socat, stunnel) or 1.3 (sealion), "default" is TLS\n'
    printf '1.3, and for sealion what both ends have measured. Without AES: OPENSSL_ia32cap, a processor without AES-NI, AVX-512 and SHA. CPU seconds are\n'
    printf 'those of all programs of both ends. Writes: rows a second into the server that mariabackup reads, of %s that a client offers (alone: %s). tar,\n' "$offered" "$idle"
    printf 'rsync, sealion and clear copy files that nobody writes to: as a state transfer they would block writes for as long. clear is sealion without TLS.\n\n'
    printf 'fly and steps take the same stream of %s MB, %s MB when it is unpacked: zstd, then xbcrypt (AES256) around each file. steps is socat, mbstream -x,\n' "$packed_mb" "$data_mb"
    printf 'then the files decrypted, then decompressed by zstd -d, %s side by side. The real xbcrypt is not here: sealion xbcrypt stands for it, at both ends.\n' "$(nproc)"
    printf 'relay: a line of %s Mbit/s and %s ms each way, to which sealion sends compressed where it finds that this pays.\n' $mbit_per_s $delay_ms
    machine "$load_before"
    printf '\nRatios with intervals of 95 %%:\n\n| with | beside | rate | CPU s/GB | goal |\n|---|---|---|---|---|\n'
    compared 'rate 1.5, CPU 1' 'mariabackup default on loopback' 'sealion-live default on loopback'
    compared 'rate 1.5, CPU 1' 'mariabackup default on loopback' 'sealion default on loopback'
    compared 'rate 0.9' 'clear-live plain on loopback' 'sealion-live default on loopback'
    compared 'rate 0.9' 'clear plain on loopback' 'sealion default on loopback'
    compared 'rate 2.5' 'steps default on loopback' 'fly default on loopback'
    for cipher in AES128 AES256 CHACHA20; do
        compared 'not below 1' "sealion $cipher off loopback" 'sealion default off loopback'
    done
    compared '' 'mariabackup default on relay' 'sealion-live default on relay'
    compared '' 'mariabackup plain on loopback' 'sealion-live default on loopback'
    compared '' 'tar default on loopback' 'sealion default on loopback'
    printf '\nWhat a copy cannot be faster than here, measured in each block, and how near copies came to the disk and to loopback:\n\n'
    printf '| limit | MB/s | lowest | highest |\n|---|---|---|---|\n'
    awk -F , '
        BEGIN { split("disk cache memcpy aes128 aes256 chacha20 loopback", order, " ")
            of["disk"] = "disk, past the page cache"; of["cache"] = "disk, through the page cache"; of["memcpy"] = "memcpy, a processor"
            of["aes128"] = "AES-128-GCM, a processor"; of["aes256"] = "AES-256-GCM, a processor"
            of["chacha20"] = "ChaCha20-Poly1305, a processor"; of["loopback"] = "TCP over loopback, a connection" }
        { sum[$3] += $4; n[$3]++; if (n[$3] == 1 || $4 < low[$3]) low[$3] = $4; if ($4 > high[$3]) high[$3] = $4 }
        END { for (i = 1; i in order; i++) { one = order[i]; printf "| %s | %.0f | %.0f | %.0f |\n", of[one], sum[one] / n[one], low[one], high[one] } }' limits.csv
    printf '\n| with | cipher | AES | line | MB/s | of the disk | of loopback | CPU s/GB | writes/s | copies |\n|---|---|---|---|---|---|---|---|---|---|\n'
    for arm in "${arms[@]}"; do
        [ -n "$arm" ] || continue
        cat limits.csv raw.csv | awk -F , -v arm="$arm" '
            $1 == "limit" { limit[$3] += $4; limits[$3]++ }
            $3 == arm { sum[$1] += $4; count[$1]++ }
            END { split(arm, part, " "); writes = sum["writes"] / count["writes"]; rate = sum["rate"] / count["rate"]
                near = part[4] == "loopback"
                printf "| %s | %s | %s | %s | %.0f | %s | %s | %.2f | %s | %d |\n", part[1], part[2], part[3], part[4], rate,
                    near ? sprintf("%.0f %%", 100 * rate / (limit["disk"] / limits["disk"])) : "-",
                    near ? sprintf("%.0f %%", 100 * rate / (limit["loopback"] / limits["loopback"])) : "-",
                    sum["cpu"] / count["cpu"], writes < 0 ? "-" : sprintf("%.0f", writes), count["rate"] }'
    done
    printf '\nPublished in 2017 for 122 GB between two hosts with 10 Gbit/s, in words: the backup tool is the fastest way with AES in hardware; without it, several\n'
    printf 'rsyncs side by side win with AES, and ChaCha20 is 2 to 3 times faster than AES; rsync blocks the donor, the backup tool does not.\n'
    printf '<!-- bench-sst.sh: to here -->\n'
} >page
replace_section '<!-- bench-sst.sh: from here -->' '<!-- bench-sst.sh: to here -->' page "$out"
