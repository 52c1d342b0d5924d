#!/usr/bin/env bash
# Fuzzes the parsers that meet bytes from outside: scripts/fuzz.sh [SECONDS] [TARGET...]
#
# Every target (fuzz/targets/*.rs) for SECONDS each, 60 when not said, one after the other. Needs a C++ compiler for
# libFuzzer and perl for the seeds; neither nightly nor cargo-fuzz: the coverage counters are asked of LLVM by name.
# What was found lies in fuzz/artifacts/TARGET/ and is run again by: scripts/fuzz.sh --again FILE TARGET
# Exit codes: 0 nothing found, 1 found something, 2 usage.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'fuzz: %s\n' "$*" >&2; }

mapfile -t all < <(cd fuzz/targets && for file in *.rs; do printf '%s\n' "${file%.rs}"; done)
seconds=60
again=
if [ "${1:-}" = --again ]; then
    [ $# -eq 3 ] || { say "usage: scripts/fuzz.sh --again FILE TARGET"; exit 2; }
    again=$2
    set -- "$3"
elif [[ "${1:-}" =~ ^[0-9]+$ ]]; then
    seconds=$1
    shift
fi
[ $# -gt 0 ] || set -- "${all[@]}"
for target in "$@"; do
    [ -f "fuzz/targets/$target.rs" ] || { say "no target \"$target\"; there are: ${all[*]}"; exit 2; }
done

# One file of bytes per recording; the hex files have lines of comment in front. Targets whose first byte says how the
# rest is cut get one in front.
seed() {
    local target=$1 corpus=fuzz/corpus/$1 file name front=
    mkdir -p "$corpus" "fuzz/artifacts/$target"
    case $target in server_flight) front=3f ;; esac
    case $target in
    greeting) cp crates/wire/testdata/greeting/*.bin "$corpus/" ;;
    pcap_file | sniff) cp crates/prove/testdata/sniff/*.pcap "$corpus/" ;;
    gcomm) cp crates/wire/testdata/gcomm/*.bin "$corpus/" ;;
    login) for file in crates/wire/testdata/greeting/*.bin; do tail -c +5 "$file" >"$corpus/${file##*/}"; done ;;
    server_flight | tls_records | ssl2)
        for file in crates/wire/testdata/tls/*.hex crates/wire/testdata/servers/*/*.hex; do
            name=${file#crates/wire/testdata/} name=${name//\//-}
            FRONT=$front perl -ne 'print pack("H*", $ENV{FRONT}) if $. == 1; chomp; print pack("H*", $_) unless /^#/' \
                "$file" >"$corpus/${name%.hex}"
        done
        ;;
    esac
    if [ -d "fuzz/seeds/$target" ]; then cp "fuzz/seeds/$target"/* "$corpus/"; fi
}

target_dir=${CARGO_TARGET_DIR:+$CARGO_TARGET_DIR/fuzz}
target_dir=${target_dir:-$PWD/fuzz/target}
host=$(rustc -vV | sed -n 's/^host: //p')
# --target keeps these flags away from build scripts. No AddressSanitizer: nothing here is `unsafe`.
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
bins=()
for target in "$@"; do bins+=(--bin "$target"); done
say "building $# targets"
cargo build --quiet --release --locked --manifest-path fuzz/Cargo.toml --target "$host" --target-dir "$target_dir" "${bins[@]}"

found=0
for target in "$@"; do
    seed "$target"
    program=$target_dir/$host/release/$target
    if [ -n "$again" ]; then
        exec "$program" "$again"
    fi
    log=$(mktemp)
    # 4096 bytes reach everything but the limits, which have tests of their own.
    if "$program" "fuzz/corpus/$target" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=1024 -timeout=10 \
        -artifact_prefix="fuzz/artifacts/$target/" -print_final_stats=1 >"$log" 2>&1; then
        say "$target: nothing found in ${seconds}s, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs," \
            "$(grep -o 'cov: [0-9]*' "$log" | tail -n 1)"
    else
        found=1
        say "$target: FOUND something"
        tail -n 40 "$log" >&2
    fi
    rm -f "$log"
done
exit "$found"
