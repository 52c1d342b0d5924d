#!/usr/bin/env bash
# Packs a built sealion: the same input gives the same bytes.
#
#   package.sh [--fast] BINARY OUT
#
# OUT gets sealion_VERSION_ARCH.deb, sealion-VERSION-ARCH-linux.tar.gz and SHA256SUMS. BINARY should be the static one that `make dist`
# builds: the package names no dependencies. --fast does not compress (for tests). SOURCE_DATE_EPOCH is the time of every file; else it is
# that of the last commit.
set -euo pipefail
export LC_ALL=C
umask 022

compression=xz
[ "${1:-}" != --fast ] || {
    compression=none
    shift
}
[ $# -eq 2 ] || {
    printf 'usage: package.sh [--fast] BINARY OUT\n' >&2
    exit 2
}
here=$(cd "$(dirname "$0")/.." && pwd)
binary=$1 out=$2
[ -x "$binary" ] || {
    printf 'package: %s is no program\n  next: make dist builds it\n' "$binary" >&2
    exit 2
}
for tool in dpkg-deb gzip tar strip sha256sum; do
    command -v "$tool" >/dev/null || {
        printf 'package: %s is missing\n  next: apt-get install dpkg tar gzip coreutils binutils\n' "$tool" >&2
        exit 2
    }
done
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$here/Cargo.toml" | head -n 1)
case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
*)
    printf 'package: no packages for %s\n' "$(uname -m)" >&2
    exit 2
    ;;
esac
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || echo 0)}

mkdir -p "$out"
out=$(cd "$out" && pwd -P)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/root
doc=$root/usr/share/doc/sealion
mkdir -p "$root/usr/bin" "$root/usr/share/man/man1" "$root/usr/share/bash-completion/completions" \
    "$root/usr/share/zsh/vendor-completions" "$root/usr/share/fish/vendor_completions.d" "$doc" "$root/DEBIAN"
strip -o "$root/usr/bin/sealion" "$binary"
chmod 755 "$root/usr/bin/sealion"
for page in "$here"/docs/man/*.1; do
    gzip -9nc "$page" >"$root/usr/share/man/man1/${page##*/}.gz"
done
install -m644 "$here/docs/completions/sealion.bash" "$root/usr/share/bash-completion/completions/sealion"
install -m644 "$here/docs/completions/_sealion" "$root/usr/share/zsh/vendor-completions/_sealion"
install -m644 "$here/docs/completions/sealion.fish" "$root/usr/share/fish/vendor_completions.d/sealion.fish"
gzip -9nc "$here/CHANGELOG.md" >"$doc/NEWS.gz"
printf 'sealion (%s) unstable; urgency=medium\n\n  * See NEWS.gz.\n\n -- The sealion authors <security@sealion.invalid>  %s\n' \
    "$version" "$(date -u -R -d "@$epoch")" | gzip -9nc >"$doc/changelog.gz"
{
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: sealion\n\n'
    printf 'Files: *\nCopyright: The sealion authors\nLicense: Apache-2.0 or MIT\n'
    printf ' Apache-2.0 is /usr/share/common-licenses/Apache-2.0 on Debian. The text of the MIT licence:\n .\n'
    sed 's/^$/./; s/^/ /' "$here/LICENSE-MIT"
} >"$doc/copyright"
# Units are installed and not enabled: what runs without being asked for is decided by the administrator.
if [ -d "$here/packaging/systemd" ]; then
    mkdir -p "$root/lib/systemd/system"
    install -m644 "$here"/packaging/systemd/*.service "$root/lib/systemd/system/"
fi
if [ -d "$here/packaging/prometheus" ]; then
    mkdir -p "$root/usr/share/sealion/prometheus"
    install -m644 "$here/packaging/prometheus/sealion.rules.yml" "$root/usr/share/sealion/prometheus/"
fi
size_kib=$(du -sk --apparent-size "$root" | cut -f1)
cat >"$root/DEBIAN/control" <<EOF
Package: sealion
Version: $version
Architecture: $arch
Maintainer: The sealion authors <security@sealion.invalid>
Installed-Size: $size_kib
Suggests: openssh-client
Section: database
Priority: optional
Description: audits, verifies and enables encryption of MySQL and MariaDB
 sealion shows, proves, prices and turns on the encryption of MySQL, MariaDB and
 Galera clusters, in transit and at rest, while they serve: scans from outside,
 audits from inside, captures that prove what is on the wire, benchmarks with
 confidence intervals, and changes with a plan, a journal and a way back.
 .
 One static program. It starts nothing by itself.
EOF
(cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\n' | sort | xargs -d '\n' md5sum) >"$root/DEBIAN/md5sums"
find "$root" -exec touch --no-dereference --date="@$epoch" {} +
SOURCE_DATE_EPOCH=$epoch dpkg-deb --root-owner-group "-Z$compression" --build "$root" "$out/sealion_${version}_$arch.deb" >/dev/null

name=sealion-$version-$arch-linux
mkdir "$stage/$name"
install -m755 "$root/usr/bin/sealion" "$stage/$name/sealion"
cp -R "$here/docs/man" "$here/docs/completions" "$here/README.md" "$here/CHANGELOG.md" "$here/LICENSE-APACHE" "$here/LICENSE-MIT" "$stage/$name/"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" --mode=u+rw,go+r,go-w -C "$stage" -cf - "$name" |
    gzip "$([ "$compression" = none ] && echo -1n || echo -9n)" >"$out/$name.tar.gz"
(cd "$out" && sha256sum "sealion_${version}_$arch.deb" "$name.tar.gz" >SHA256SUMS)
printf '%s\n' "$out/sealion_${version}_$arch.deb" "$out/$name.tar.gz" "$out/SHA256SUMS"
