#!/usr/bin/env bash
# Packs a built sealion: the same input gives the same bytes.
#
#   package.sh [--fast] [--as VERSION] BINARY OUT
#
# OUT gets, for this processor: sealion_VERSION_ARCH.deb, sealion-VERSION-1.ARCH.rpm, sealion-VERSION-ARCH-linux.tar.gz,
# sealion-VERSION-ARCH-oci.tar (an image), sealion-VERSION-ARCH.cdx.json (what the program contains, CycloneDX) and SHA256SUMS over these.
# BINARY should be the static one that `make dist` builds: the packages name no dependencies.
#
#   MINISIGN_KEY=FILE            signs SHA256SUMS with this secret key. minisign asks for its password on the terminal, or reads it
#   MINISIGN_PASSWORD_FILE=FILE  from the first line of stdin or of this file. Without a key nothing is signed.
#   SOURCE_DATE_EPOCH            is the time of every file; else it is that of the last commit.
#   --fast                       hardly compresses, and takes a program of any size (for tests)
#   --as VERSION                 another version than that of Cargo.toml (for tests of an upgrade)
set -euo pipefail
export LC_ALL=C TZ=UTC
umask 022

readonly BINARY_BYTES_MAX=30000000 # What people copy to servers over slow lines, and an agent to each host for one command.

usage() {
    printf 'usage: package.sh [--fast] [--as VERSION] BINARY OUT\n' >&2
    exit 2
}
stop() {
    printf 'package: %s\n' "$1" >&2
    printf '%s\n' "${@:2}" >&2
    exit 2
}

fast='' version='' compression=xz level=9
while [ $# -gt 0 ]; do
    case $1 in
    --fast) fast=yes compression=gzip level=1 ;;
    --as)
        [ $# -gt 1 ] || usage
        version=$2
        shift
        ;;
    -*) usage ;;
    *) break ;;
    esac
    shift
done
[ $# -eq 2 ] || usage
here=$(cd "$(dirname "$0")/.." && pwd)
binary=$1 out=$2
[ -x "$binary" ] || stop "$binary is no program" '  next: make dist builds it'
for tool in dpkg-deb rpmbuild python3 gzip tar strip readelf sha256sum ${MINISIGN_KEY:+minisign}; do
    command -v "$tool" >/dev/null || stop "$tool is missing" '  next: scripts/setup.sh packages'
done
if [ -n "${MINISIGN_KEY:-}" ]; then
    [ -r "$MINISIGN_KEY" ] || stop "cannot read \"$MINISIGN_KEY\", named by MINISIGN_KEY" \
        '  next: name the file of a secret key that minisign -G has made'
fi
[ -n "$version" ] || version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$here/Cargo.toml" | head -n 1)
# 1.0.0-rc.1 comes before 1.0.0 for dpkg and rpm only with a tilde.
package_version=${version/-/\~}
machine=$(uname -m)
case $machine in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
*) stop "no packages for $machine" '  next: make static builds a program for it' ;;
esac
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH=$epoch

mkdir -p "$out"
out=$(cd "$out" && pwd -P)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

strip -o "$stage/sealion" "$binary"
chmod 755 "$stage/sealion"
bytes=$(stat -c %s "$stage/sealion")
if [ -z "$fast" ] && [ "$bytes" -gt "$BINARY_BYTES_MAX" ]; then
    stop "the program has $bytes bytes, at most $BINARY_BYTES_MAX are wanted" \
        "  why:  it is copied to every host of a cluster for the time of a command" \
        "  next: find what has grown (nm --size-sort --print-size of a build with CARGO_PROFILE_DIST_STRIP=none)"
fi
static=''
readelf -lW "$stage/sealion" | grep -q INTERP || static=--static

# The files that both packages have, each at the place where its system looks for them.
#   tree ROOT ZSH
tree() {
    local root=$1 units=$1/usr/lib/systemd/system zsh=$1/$2 doc=$1/usr/share/doc/sealion
    install -d "$root/usr/bin" "$root/usr/share/man/man1" "$root/usr/share/bash-completion/completions" "$zsh" \
        "$root/usr/share/fish/vendor_completions.d" "$doc" "$units" "$root/usr/share/sealion/prometheus" \
        "$root/usr/share/sealion/grafana"
    install -m755 "$stage/sealion" "$root/usr/bin/sealion"
    for page in "$here"/docs/man/*.1; do
        gzip -9nc "$page" >"$root/usr/share/man/man1/${page##*/}.gz"
    done
    install -m644 "$here/docs/completions/sealion.bash" "$root/usr/share/bash-completion/completions/sealion"
    install -m644 "$here/docs/completions/_sealion" "$zsh/_sealion"
    install -m644 "$here/docs/completions/sealion.fish" "$root/usr/share/fish/vendor_completions.d/sealion.fish"
    gzip -9nc "$here/CHANGELOG.md" >"$doc/NEWS.gz"
    # Units are installed and not enabled: what runs without being asked for is decided by the administrator.
    install -m644 "$here"/packaging/systemd/*.service "$units/"
    install -m644 "$here/packaging/prometheus/sealion.rules.yml" "$root/usr/share/sealion/prometheus/"
    install -m644 "$here"/packaging/grafana/*.json "$root/usr/share/sealion/grafana/"
}
same_time() { find "$1" -exec touch --no-dereference --date="@$epoch" {} +; }

# --- .deb
root=$stage/deb
doc=$root/usr/share/doc/sealion
tree "$root" usr/share/zsh/vendor-completions
printf 'sealion (%s) unstable; urgency=medium\n\n  * See NEWS.gz.\n\n -- The sealion authors <security@sealion.invalid>  %s\n' \
    "$package_version" "$(date -u -R -d "@$epoch")" | gzip -9nc >"$doc/changelog.gz"
{
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: sealion\n\n'
    printf 'Files: *\nCopyright: The sealion authors\nLicense: Apache-2.0 or MIT\n'
    printf ' Apache-2.0 is /usr/share/common-licenses/Apache-2.0 on Debian. The text of the MIT licence:\n .\n'
    sed 's/^$/./; s/^/ /' "$here/LICENSE-MIT"
} >"$doc/copyright"
install -Dm644 "$here/packaging/deb/lintian-overrides" "$root/usr/share/lintian/overrides/sealion"
size_kib=$(du -sk --apparent-size "$root" | cut -f1)
install -d "$root/DEBIAN"
install -m755 "$here"/packaging/deb/{postinst,prerm,postrm} "$root/DEBIAN/"
cat >"$root/DEBIAN/control" <<END
Package: sealion
Version: $package_version
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
END
(cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\n' | sort | xargs -d '\n' md5sum) >"$root/DEBIAN/md5sums"
same_time "$root"
deb=sealion_${package_version}_$arch.deb
# By one thread: xz cuts its input into other blocks where there are more.
DPKG_DEB_THREADS_MAX=1 dpkg-deb --root-owner-group "-Z$compression" "-z$level" --build "$root" "$out/$deb" >/dev/null

# --- .rpm
root=$stage/rpm
tree "$root" usr/share/zsh/site-functions
install -Dm644 -t "$root/usr/share/licenses/sealion" "$here/LICENSE-APACHE" "$here/LICENSE-MIT"
same_time "$root"
{
    # Directories that may be nobody else's, so that none is left when this package goes.
    find "$root/usr/share" -mindepth 1 -type d \
        \( -path '*/sealion*' -o -path '*/bash-completion*' -o -path '*/zsh*' -o -path '*/fish*' \) -printf '%%dir /usr/share/%P\n'
    find "$root" -type f \( -path '*/share/doc/*' -printf '%%doc /%P\n' -o -path '*/share/licenses/*' -printf '%%license /%P\n' \
        -o -printf '/%P\n' \)
} | sort >"$stage/files"
rpm=sealion-$package_version-1.$machine.rpm
# gzip: every rpm in use reads it, that of EL7 too, which knows no zstd. What the scripts of a distribution do to a tree that is
# built (strip, build ids, compiled Python) is switched off: the files are ready.
rpmbuild -bb --quiet --nodeps --target "$machine-linux" \
    --define "_topdir $stage/rpmbuild" --define "_rpmdir $stage" --define "_build_name_fmt $rpm" --define "_dbpath $stage/rpmdb" \
    --define "_tmppath $stage" --define '_buildhost sealion' --define 'use_source_date_epoch_as_buildtime 1' \
    --define 'clamp_mtime_to_source_date_epoch 1' --define "_binary_payload w$level.gzdio" \
    --define '_build_id_links none' --define 'debug_package %{nil}' --define '__os_install_post %{nil}' \
    --define "sealion_version $package_version" --define "sealion_stage $root" --define "sealion_files $stage/files" \
    "$here/packaging/rpm/sealion.spec" >"$stage/rpmbuild.log" 2>&1 || {
    cat "$stage/rpmbuild.log" >&2
    stop "rpmbuild failed, as said above" '  next: scripts/setup.sh packages installs the rpm of Debian, which this is tried with'
}
cp "$stage/$rpm" "$out/$rpm"

# --- tarball
name=sealion-$version-$arch-linux
mkdir "$stage/$name"
install -m755 "$stage/sealion" "$stage/$name/sealion"
cp -R "$here/docs/man" "$here/docs/completions" "$here/packaging/systemd" "$here/packaging/prometheus" "$here/packaging/grafana" "$here/README.md" \
    "$here/CHANGELOG.md" "$here/LICENSE-APACHE" "$here/LICENSE-MIT" "$stage/$name/"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" --mode=u+rw,go=rX --format=ustar -C "$stage" -cf - "$name" |
    gzip "-${level}n" >"$out/$name.tar.gz"

# --- image
image=sealion-$version-$arch-oci.tar
"$here/scripts/oci-image.py" ${fast:+--fast} "$version" "$arch" "$epoch" "$stage/sealion" "$here/LICENSE-APACHE" "$here/LICENSE-MIT" \
    "$out/$image"

# --- what it contains
sbom=sealion-$version-$arch.cdx.json
"$here/scripts/sbom.py" $static "$version" "$epoch" "$stage/sealion" >"$out/$sbom"

# --- sums, and their signature
(cd "$out" && sha256sum "$deb" "$rpm" "$name.tar.gz" "$image" "$sbom" >SHA256SUMS)
rm -f "$out/SHA256SUMS.minisig"
if [ -n "${MINISIGN_KEY:-}" ]; then
    if [ -n "${MINISIGN_PASSWORD_FILE:-}" ]; then
        exec <"$MINISIGN_PASSWORD_FILE"
    fi
    # The comment is signed too; without one it would have the time.
    minisign -S -s "$MINISIGN_KEY" -m "$out/SHA256SUMS" -c "signature of sealion $version" -t "sealion $version SHA256SUMS" >&2 ||
        stop "minisign did not sign SHA256SUMS" '  next: see what it says; its password is read from the terminal, stdin, or MINISIGN_PASSWORD_FILE'
else
    printf 'package: SHA256SUMS is not signed: MINISIGN_KEY names no key\n' >&2
fi
printf '%s\n' "$out/$deb" "$out/$rpm" "$out/$name.tar.gz" "$out/$image" "$out/$sbom" "$out/SHA256SUMS"
[ ! -f "$out/SHA256SUMS.minisig" ] || printf '%s\n' "$out/SHA256SUMS.minisig"
