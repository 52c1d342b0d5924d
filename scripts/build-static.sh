#!/usr/bin/env bash
# Builds the static program so that the same source gives the same bytes, wherever it lies and whoever builds it.
#
#   build-static.sh TARGET_DIR
#
# The program is TARGET_DIR/PROCESSOR-unknown-linux-musl/dist/sealion. CARGO names another cargo. SOURCE_DATE_EPOCH is what OpenSSL
# says it was built at; else the time of the last commit.
set -euo pipefail

[ $# -eq 1 ] || {
    printf 'usage: build-static.sh TARGET_DIR\n' >&2
    exit 2
}
here=$(cd "$(dirname "$0")/.." && pwd)
target_dir=$1
target=$(uname -m)-unknown-linux-musl
cargo=${CARGO:-cargo}
cd "$here"

# What is in the registry is unpacked before its directories are asked for: each has the name of the registry in its own.
"$cargo" fetch --locked --quiet --target "$target"
# Two megabytes of relocations become some kilobytes, which musl reads since 1.2.4.
flags="-C link-arg=-Wl,-z,pack-relative-relocs --remap-path-prefix=$here=/usr/src/sealion --remap-path-prefix=$target_dir=/usr/src/sealion/target"
for crates in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
    flags+=" --remap-path-prefix=$crates=/usr/src/crates"
done
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
# OpenSSL would load engines and providers from the directory that it was built in: what lies there later is somebody else's. This
# directory is root's, and nobody makes it. openssl-src passes no option for it; make takes it from here.
export GNUMAKEFLAGS="ENGINESDIR=/usr/lib/sealion/engines-3 MODULESDIR=/usr/lib/sealion/ossl-modules"
# No panic of Rust goes through C, so that its tables for that are read by nobody: most of a megabyte.
cflags=CFLAGS_$(uname -m)_unknown_linux_musl
export "$cflags=${!cflags:-} -fno-asynchronous-unwind-tables -fno-unwind-tables"
RUSTFLAGS=$flags CARGO_TARGET_DIR=$target_dir "$cargo" build --profile dist --locked -p cli --target "$target"
