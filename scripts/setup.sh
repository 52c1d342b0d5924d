#!/usr/bin/env bash
# Makes a machine ready: scripts/setup.sh [build|servers|weak|browser|tools|packages|drivers|licences|static|all] (all is the default).
#
#   build    compiler, make and perl for the vendored OpenSSL and SQLite, and a look at Rust
#   servers  real MariaDB and Galera servers, unpacked into the cache; needs no root, installs and starts nothing
#   weak     for the controls of `sealion scan`: an OpenSSL with faults, built into the cache, and newer servers
#   browser  Chromium and one font, for the test that opens report.html
#   tools    ip, unshare, openssl and patch, for tests that make a namespace or run what a runbook says; sysbench, which our
#            load generator is compared with; OpenVPN and WireGuard, whose cost is measured; cryptsetup, which keys of LUKS are
#            rotated by; an ORM, a tool for migrations and sqlmap, whose statements `sealion audit` has to tell apart
#   packages what packages are made with, signed and checked: dpkg, rpm, minisign, lintian, systemd-analyze, man, the shells of the completions
#   drivers  languages, and drivers that distributions build, for `make deep` (not part of all)
#   static   what `make static` needs: musl, its compiler and Rust's library for it (part of packages)
#   licences cargo-deny for `make check`, built by cargo into the cache; needs no root (not part of all)
#
# Exit codes: 0 ready, 2 something is missing and the text says the command, 3 the servers cannot be had here.
set -euo pipefail

readonly RUST_MINOR_MIN=88 # rust-version in Cargo.toml: 1.88
here=$(cd "$(dirname "$0")" && pwd)
own_tools="${SEALION_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/sealion}/tools"
PATH="$PATH:${HOME:-}/.cargo/bin:$own_tools/bin" # rustup's place, for shells that were open before it was installed.

say() { printf 'setup: %s\n' "$*" >&2; }
has() { command -v "$1" >/dev/null 2>&1; }

tell_system() {
    local id="unknown system"
    if [ -r /etc/os-release ]; then
        # shellcheck source=/dev/null
        id=$(. /etc/os-release && printf '%s %s' "${ID:-linux}" "${VERSION_ID:-without a version}")
    fi
    [ "$id" = "debian 12" ] || say "not tried on $id (tried on: debian 12); going on"
}

# Installs packages by apt where this user may; else says the command and ends.
install() {
    local reason=$1 root=()
    shift
    say "missing for $reason: $*"
    if ! has apt-get; then
        say "install them with this system's package manager (the names are Debian's)"
        exit 2
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if has sudo && sudo -n true 2>/dev/null; then
            root=(sudo -n)
        else
            say "run as root: apt-get update && apt-get install -y --no-install-recommends $*"
            exit 2
        fi
    fi
    say "installing: $*"
    "${root[@]}" apt-get -qq update >/dev/null
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y --no-install-recommends install "$@" </dev/null >/dev/null
}

build() {
    local missing=() rust minor
    has gcc || missing+=(gcc)
    printf '#include <stdio.h>\n' | cc -E - >/dev/null 2>&1 || missing+=(gcc libc6-dev)
    has make || missing+=(make)
    # OpenSSL's Configure wants modules that Debian's perl-base lacks.
    perl -MFindBin -MIPC::Cmd -e 1 >/dev/null 2>&1 || missing+=(perl)
    if [ ${#missing[@]} -gt 0 ]; then
        mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
        install "the build" "${missing[@]}"
    fi

    if ! has cargo || ! has rustc; then
        say "no cargo or rustc: install Rust by rustup, 1.$RUST_MINOR_MIN or newer (https://rustup.rs)"
        exit 2
    fi
    rust=$(rustc --version | awk '{ print $2 }')
    minor=${rust#1.}
    minor=${minor%%.*}
    case $rust:$minor in
    1.*:*[!0-9]* | 1.*:) say "cannot read the version of rustc (\"$rust\"); going on" ;;
    1.*)
        if [ "$minor" -lt "$RUST_MINOR_MIN" ]; then
            say "rustc is $rust: install Rust by rustup, 1.$RUST_MINOR_MIN or newer (https://rustup.rs)"
            exit 2
        fi
        ;;
    esac
    say "build: ready (rustc $rust)"
}

servers() {
    if [ -n "${SEALION_MARIADBD:-}" ] && [ -n "${SEALION_GALERA:-}" ]; then
        local file
        for file in "$SEALION_MARIADBD" "$SEALION_GALERA"; do
            if [ ! -r "$file" ]; then
                say "cannot read \"$file\", named by SEALION_MARIADBD or SEALION_GALERA"
                exit 2
            fi
        done
        say "servers: ready (named by SEALION_MARIADBD and SEALION_GALERA)"
        return
    fi
    local where
    where=$(bash "$here/fetch-servers.sh" galera-10.11)
    say "servers: ready ($where)"
}

weak() {
    if [ -z "${SEALION_WEAK_OPENSSL:-}" ]; then
        printf '#include <zlib.h>\n' | cc -E - >/dev/null 2>&1 || install "the weak OpenSSL" zlib1g-dev
    fi
    has "${SEALION_OPENSSL:-openssl}" || install "the controls of the scan" openssl
    local where
    where=$(bash "$here/weak-openssl.sh")
    bash "$here/fetch-servers.sh" mysql-9.7 >/dev/null
    bash "$here/fetch-servers.sh" mariadb-11.8 >/dev/null
    say "weak: ready ($where)"
}

browser() {
    if [ -n "${SEALION_BROWSER:-}" ]; then
        if ! has "$SEALION_BROWSER"; then
            say "cannot run \"$SEALION_BROWSER\", named by SEALION_BROWSER"
            exit 2
        fi
        say "browser: ready (named by SEALION_BROWSER)"
        return
    fi
    local name
    for name in chromium chromium-browser google-chrome; do
        if has "$name"; then
            say "browser: ready ($(command -v "$name"))"
            return
        fi
    done
    install "the report test" chromium fonts-dejavu-core
    say "browser: ready ($(command -v chromium))"
}

static() {
    local target
    target=$(uname -m)-unknown-linux-musl
    has musl-gcc || install "a static binary" musl-tools
    if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
        has rustup || {
            say "Rust has no library for $target here"
            say "next: install Rust by rustup (https://rustup.rs), or the package of your distribution for $target"
            exit 2
        }
        rustup --quiet target add "$target"
    fi
    say "static: ready ($target)"
}

licences() {
    if ! has cargo-deny; then
        say "missing for make check: cargo-deny; building it, which takes some minutes once"
        env -u CARGO_TARGET_DIR cargo install cargo-deny --locked --quiet --root "$own_tools"
    fi
    say "licences: ready ($(command -v cargo-deny))"
}

# What tests use beside the servers.
tools() {
    local missing=()
    has ip || missing+=(iproute2)
    has unshare || missing+=(util-linux)
    has openssl || missing+=(openssl)
    has patch || missing+=(patch)
    has sysbench || missing+=(sysbench)
    [ -s /etc/ssl/certs/ca-certificates.crt ] || missing+=(ca-certificates)
    has openvpn || [ -x /usr/sbin/openvpn ] || missing+=(openvpn)
    has wireguard-go || missing+=(wireguard-go)
    has cryptsetup || [ -x /usr/sbin/cryptsetup ] || missing+=(cryptsetup-bin)
    # Debian's Python has Debian's modules, whichever python3 comes first in PATH.
    /usr/bin/python3 -c 'import pymysql' >/dev/null 2>&1 || missing+=(python3-pymysql)
    /usr/bin/python3 -c 'import sqlalchemy' >/dev/null 2>&1 || missing+=(python3-sqlalchemy)
    /usr/bin/python3 -c 'import alembic' >/dev/null 2>&1 || missing+=(alembic)
    [ -x /usr/bin/sqlmap ] || missing+=(sqlmap)
    [ ${#missing[@]} -eq 0 ] || install "the tests" "${missing[@]}"
    # Unpacked, not installed: the package would start a server.
    if [ ! -x /usr/sbin/sshd ] || [ ! -x /usr/bin/ssh ] || [ ! -x /usr/bin/ssh-keygen ]; then
        bash "$here/fetch-servers.sh" ssh >/dev/null
    fi
    # The same holds for this one.
    [ -x /usr/sbin/haproxy ] || bash "$here/fetch-servers.sh" haproxy >/dev/null
    # What a distribution of 2023 has is too old for scans with workers.
    [ -n "${SEALION_NATS_SERVER:-}" ] || bash "$here/fetch-servers.sh" nats >/dev/null
    # Unpacked, not installed: the package would start a server.
    [ -x /usr/bin/promtool ] || bash "$here/fetch-servers.sh" prometheus >/dev/null
    say "tools: ready"
}

# Of scripts/package.sh and of the tests that install what it makes. None of them starts a service.
packages() {
    # The list of what a static program contains names Rust's own copy of musl.
    static
    local missing=()
    has dpkg-deb || missing+=(dpkg)
    has rpmbuild || missing+=(rpm)
    has strip || missing+=(binutils)
    has python3 || missing+=(python3)
    has minisign || missing+=(minisign)
    has lintian || missing+=(lintian)
    has systemd-analyze || missing+=(systemd)
    has man || missing+=(man-db)
    has zsh || missing+=(zsh)
    has fish || missing+=(fish)
    [ ${#missing[@]} -eq 0 ] || install "packages" "${missing[@]}"
    say "packages: ready"
}

# What `sealion prove clients --install` leaves to the distribution.
drivers() {
    local missing=()
    python3 -c 'import ensurepip' >/dev/null 2>&1 || missing+=(python3-venv)
    has mariadb_config || missing+=(libmariadb-dev libmariadb-dev-compat)
    has pkg-config || missing+=(pkg-config)
    [ -e "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] || missing+=(python3-dev)
    printf '#include <openssl/ssl.h>\n' | cc -E - >/dev/null 2>&1 || missing+=(libssl-dev)
    has node || missing+=(nodejs)
    has npm || missing+=(npm)
    has javac || missing+=(default-jdk-headless)
    has mvn || missing+=(maven)
    php -m 2>/dev/null | grep -q pdo_mysql || missing+=(php-cli php-mysql)
    perl -MDBD::mysql -e 1 >/dev/null 2>&1 || missing+=(libdbd-mysql-perl)
    has qemu-storage-daemon || missing+=(qemu-system-common)
    perl -MDBD::MariaDB -e 1 >/dev/null 2>&1 || missing+=(libdbd-mariadb-perl)
    ruby -rmysql2 -e 1 >/dev/null 2>&1 || missing+=(ruby-mysql2)
    [ ${#missing[@]} -eq 0 ] || install "the drivers" "${missing[@]}"
    if ! has go; then
        say "no go: install Go 1.24 or newer"
        exit 2
    fi
    say "drivers: ready"
}

[ $# -gt 0 ] || set -- all
for part in "$@"; do
    case $part in
    build | servers | weak | browser | tools | packages | drivers | licences | static | all) ;;
    *)
        printf 'usage: scripts/setup.sh [build|servers|weak|browser|tools|packages|drivers|licences|static|all]\n' >&2
        exit 2
        ;;
    esac
done
tell_system
for part in "$@"; do
    if [ "$part" = all ]; then
        build
        servers
        weak
        browser
        tools
        packages
    else
        "$part"
    fi
done
