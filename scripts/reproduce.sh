#!/usr/bin/env bash
# Makes the packages twice, in two directories, and compares them byte for byte.
#
#   reproduce.sh [OUT]                 both by `make dist`, each with a build of its own
#   reproduce.sh --fast BINARY [OUT]   both from this program, without compressing (for tests)
#
# The second time the directory has a longer name, and umask, locale and time zone are others. OUT gets the packages. Exit code 1: two
# files differ.
set -euo pipefail

fast='' binary=''
if [ "${1:-}" = --fast ]; then
    [ $# -ge 2 ] || {
        printf 'usage: reproduce.sh [--fast BINARY] [OUT]\n' >&2
        exit 2
    }
    fast=yes binary=$(realpath "$2")
    shift 2
fi
here=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-}
[ -z "$out" ] || { mkdir -p "$out" && out=$(cd "$out" && pwd -P); }
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
unset CARGO_TARGET_DIR MINISIGN_KEY
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What git would take, once: changes that are not committed too, build products not.
(cd "$here" && git ls-files -z --cached --others --exclude-standard | { xargs -0 ls -d 2>/dev/null || true; } | tar -cf "$work/source.tar" -T -)
make_in() {
    mkdir -p "$1"
    tar -xf "$work/source.tar" -C "$1"
    if [ -n "$fast" ]; then
        "$1/scripts/package.sh" --fast "$binary" "$1/dist"
    else
        make -C "$1" dist
    fi
}
make_in "$work/a" >&2
[ -n "$fast" ] || rm -rf "$work/a/target"
(umask 077 && LC_ALL=C.UTF-8 TZ=Pacific/Auckland make_in "$work/another-directory/of-a-longer-name" >&2)

a=$work/a/dist b="$work/another-directory/of-a-longer-name/dist"
failed=''
while read -r name; do
    if ! cmp "$a/$name" "$b/$name" >&2; then
        printf 'reproduce: %s differs\n' "$name" >&2
        failed=yes
    fi
done < <(find "$a" "$b" -type f -printf '%f\n' | sort -u)
[ -z "$out" ] || cp "$a"/* "$out/"
[ -z "$failed" ] || exit 1
cat "$a/SHA256SUMS"
