#!/usr/bin/env bash
# Builds an OpenSSL that still has the faults a scanner looks for: a server for the controls of `sealion scan`.
#
#   weak-openssl.sh [--where]
#
# OpenSSL 1.1.0i with SSL 3.0, RC4, 3DES and IDEA, NULL and anonymous suites and zlib compression. The source
# is that of the crate openssl-src 110.0.7, fetched by cargo; it is built (40 s on two cores) into
#   $SEALION_CACHE/weak/openssl-1.1.0i/openssl       (SEALION_CACHE is ${XDG_CACHE_HOME:-~/.cache}/sealion when not set)
# Nothing links it and nothing installs it. SEALION_WEAK_OPENSSL names one that was made by other means.
# The last line on stdout is its path. Exit codes: 0 there, 2 usage or something missing, 3 cannot be had here.
set -euo pipefail
export LC_ALL=C
PATH="$PATH:${HOME:-}/.cargo/bin"

readonly CRATE_VERSION=110.0.7
readonly NAME=openssl-1.1.0i

say() { printf 'weak openssl: %s\n' "$*" >&2; }

where=no
case ${1:-} in
'') ;;
--where) where=yes ;;
*)
    printf 'usage: weak-openssl.sh [--where]\n' >&2
    exit 2
    ;;
esac
if [ -n "${SEALION_WEAK_OPENSSL:-}" ]; then
    printf '%s\n' "$SEALION_WEAK_OPENSSL"
    exit 0
fi
home=${SEALION_CACHE:-${XDG_CACHE_HOME:-${HOME:?neither SEALION_CACHE, XDG_CACHE_HOME nor HOME is set}/.cache}/sealion}/weak
final=$home/$NAME/openssl
if [ "$where" = yes ] || [ -x "$final" ]; then
    printf '%s\n' "$final"
    [ -x "$final" ] || exit 3
    exit 0
fi
for name in cargo cc make perl flock; do
    command -v "$name" >/dev/null || {
        say "the program $name is missing"
        exit 2
    }
done
printf '#include <zlib.h>\n' | cc -E - >/dev/null 2>&1 || {
    say "zlib's header is missing: apt-get install zlib1g-dev"
    exit 2
}

mkdir -p "$home"
exec 9>"$home/.lock"
flock 9
if [ -x "$final" ]; then
    printf '%s\n' "$final"
    exit 0
fi
work=$(mktemp -d "$home/.making.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/fetch/src"
: >"$work/fetch/src/lib.rs"
cat >"$work/fetch/Cargo.toml" <<TOML
[package]
name = "fetch"
version = "0.0.0"
edition = "2021"
[dependencies]
openssl-src = "=$CRATE_VERSION"
[workspace]
TOML
say "fetching the source"
(cd "$work/fetch" && cargo vendor -q --versioned-dirs vendor >/dev/null) || {
    say "cargo could not fetch the crate openssl-src $CRATE_VERSION"
    exit 3
}
cp -r "$work/fetch/vendor/openssl-src-$CRATE_VERSION"*/openssl "$work/build"
cd "$work/build"
say "building (about a minute)"
if ! {
    perl ./Configure linux-x86_64 --prefix=/nonexistent --openssldir=/nonexistent no-shared no-async no-dso no-engine \
        zlib enable-ssl3 enable-ssl3-method enable-weak-ssl-ciphers enable-md2 enable-rc5 -O1 &&
        make -j"$(nproc)" build_generated && make -j"$(nproc)" apps/openssl
} >"$home/$NAME.log" 2>&1; then
    tail -n 20 "$home/$NAME.log" >&2
    say "it does not build here; the whole log is $home/$NAME.log"
    exit 3
fi
mkdir -p "$home/$NAME"
mv apps/openssl "$final"
printf '%s\n' "$final"
