#!/usr/bin/env bash
# Makes a bundle of real servers for the lab, without root: nothing is installed and nothing is started.
#
#   fetch-servers.sh [--refresh] [--where] [galera-10.11|mariadb-11.8|mysql-9.7|mysql-5.5|ssh|haproxy|nats|prometheus]
#
#   galera-10.11   MariaDB 10.11 with Galera, of this machine's own Debian 12; runs under the machine's own loader
#   mariadb-11.8   of Debian 13                      } under their own loader (usr/lib/*/ld-linux-*.so.*), with an
#   mysql-9.7      of Debian unstable                } `openssl` of the same release beside them
#   ssh            OpenSSH's server and client of this machine's own release, for hosts of a lab; nothing is started
#   haproxy        HAProxy of this machine's own release, for a lab with a proxy
#   nats           nats-server of Debian 13, for scans with workers; Debian 12 has one that is too old
#   prometheus     promtool of this machine's own release, for the tests of the alert rules; nothing is started
#   mysql-5.5      5.5.9 with yaSSL, TLS 1.0 only: out of a Maven artifact (140 MB, needs mvn), with 32-bit libraries
#
# A private apt tree (its own lists, its own empty dpkg status) downloads the packages from the mirrors that this machine
# already uses; each archive is unpacked into
#   $SEALION_CACHE/bundles/NAME/               (SEALION_CACHE is ${XDG_CACHE_HOME:-~/.cache}/sealion when not set)
# The bundle is built beside that place and renamed at the end: it is whole or it is not there. The last line on stdout
# is its path; progress is on stderr. Exit codes: 0 there, 2 usage, 3 cannot be had here.
#
# Self-contained on purpose: scripts/setup.sh calls it, and `sealion lab fetch` carries it inside the binary.
set -euo pipefail
export LC_ALL=C
PATH="$PATH:/usr/sbin:/sbin" # An ordinary user's PATH has no sbin; `ip` lives there.

readonly DISK_MB_MIN=900 # 60 MB of archives, 80 MB of package lists, 370 MB unpacked, and air to rename a refresh.

say() { printf 'servers: %s\n' "$*" >&2; }

cannot() { # One reason, and the ways that remain.
    cat >&2 <<TEXT
error: cannot make the server bundle $bundle
  why:  $1
  next: name servers that were installed by other means:
          SEALION_MARIADBD=/path/to/mariadbd                 a MariaDB with Galera support, 10.11 or newer
          SEALION_GALERA=/path/to/libgalera_smm.so           its Galera 4 provider
          (they stand for galera-10.11; the others are wanted by controls and benchmarks of the scan only)
        or, with root, install them and let sealion use what the system has:
          apt-get install mariadb-server galera-4 galera-arbitrator-4 mariadb-backup rsync socat stunnel4
          sealion demo --system
TEXT
    exit 3
}

has() { command -v "$1" >/dev/null 2>&1; }

# Writes this machine's own Debian entries (main, of this release, with updates and security) into the private tree.
# Options such as signed-by are kept as they are; other components, other releases and source packages are left out.
copy_sources() {
    local codename=$1 tree=$2 file n=0
    : >"$tree/sources.list"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -r "$file" ] || continue
        awk -v codename="$codename" '
            function ours(s) { sub(/\/$/, "", s); return s == codename || s == codename "-updates" ||
                                                         s == codename "-security" || s == codename "/updates" }
            { sub(/#.*/, "") }
            $1 != "deb" { next }
            {
                at = 2; options = ""
                if ($2 ~ /^\[/) {
                    do { options = options $at " "; closed = $at ~ /\]$/; at++ } while (!closed && at <= NF)
                }
                uri = $at; suite = $(at + 1); main = 0
                for (i = at + 2; i <= NF; i++) if ($i == "main") main = 1
                if (uri !~ /^cdrom:/ && ours(suite) && main) print "deb " options uri " " suite " main"
            }' "$file" >>"$tree/sources.list"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -r "$file" ] || continue
        n=$((n + 1))
        awk -v codename="$codename" '
            function ours(s) { return s == codename || s == codename "-updates" || s == codename "-security" ||
                                      s == codename "/updates" }
            function has_word(text, word,   w, n, i) {
                n = split(text, w, /[ \t\n]+/)
                for (i = 1; i <= n; i++) if (w[i] == word) return 1
                return 0
            }
            function flush(   i, n, w, suites) {
                n = split(value["suites"], w, /[ \t\n]+/)
                for (i = 1; i <= n; i++) if (ours(w[i])) suites = suites " " w[i]
                if (suites != "" && has_word(value["types"], "deb") && has_word(value["components"], "main") &&
                    tolower(value["enabled"]) !~ /no|false|off|0/) {
                    print "Types: deb"
                    print "Suites:" suites
                    print "Components: main"
                    for (i = 1; i <= count; i++)
                        if (field[i] !~ /^(types|suites|components|enabled)$/) print field[i] ":" value[field[i]]
                    print ""
                }
                count = 0; split("", value); split("", field)
            }
            /^#/ { next }
            /^[ \t]*$/ { flush(); next }
            /^[ \t]/ { if (count) value[field[count]] = value[field[count]] "\n" $0; next }
            {
                colon = index($0, ":"); name = tolower(substr($0, 1, colon - 1))
                field[++count] = name; value[name] = substr($0, colon + 1)
            }
            END { flush() }' "$file" >"$tree/parts/$n.sources"
    done
    cat "$tree/sources.list" "$tree"/parts/*.sources 2>/dev/null | grep -q .
}

# apt's configuration: nothing of the system's but how to reach the network (proxies, timeouts).
# Hooks of the system (such as "delete all archives after update") must not run for us.
write_apt_conf() {
    local tree=$1 arch=$2
    cat >"$tree/apt.conf" <<CONF
Dir::Etc::main "$tree/none.conf";
Dir::Etc::parts "$tree/none";
Dir::Etc::sourcelist "$tree/sources.list";
Dir::Etc::sourceparts "$tree/parts";
Dir::Etc::preferences "$tree/preferences";
Dir::Etc::preferencesparts "$tree/none";
Dir::State "$tree/state";
Dir::State::status "$tree/state/status";
Dir::Cache "$tree/cache";
Dir::Log "$tree/log";
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Install-Recommends "false";
APT::Install-Suggests "false";
// "root" means: do not change to the user _apt, who cannot write here.
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
CONF
    apt-config dump | grep -E '^Acquire::(http|https|ftp|ForceIPv|Check-)' >>"$tree/apt.conf" || true
    # Other archives may use the same suite names; what Debian itself has is taken from Debian.
    printf 'Package: *\nPin: release o=Debian\nPin-Priority: 990\n' >"$tree/preferences"
}

# Of the entries that were copied, those of this machine's own release, as entries of another one.
change_release() {
    local codename=$1 suite=$2 tree=$3 file
    awk -v codename="$codename" -v suite="$suite" '{
        at = 2
        if ($2 ~ /^\[/) while (at <= NF && $at !~ /\]$/) at++
        if ($2 ~ /^\[/) at++
        if ($(at + 1) == codename) { $(at + 1) = suite; print }
    }' "$tree/sources.list" >"$tree/sources.new"
    mv "$tree/sources.new" "$tree/sources.list"
    for file in "$tree"/parts/*.sources; do
        [ -e "$file" ] || continue
        awk -v codename="$codename" -v suite="$suite" 'BEGIN { RS = ""; ORS = "\n\n" } {
            n = split($0, line, "\n"); is_ours = 0; out = ""
            for (i = 1; i <= n; i++) {
                if (line[i] ~ /^Suites:/) {
                    m = split(line[i], word, /[ \t]+/)
                    for (j = 2; j <= m; j++) if (word[j] == codename) is_ours = 1
                    line[i] = "Suites: " suite
                }
                out = out (i > 1 ? "\n" : "") line[i]
            }
            if (is_ours) print out
        }' "$file" >"$file.new"
        mv "$file.new" "$file"
    done
}

# With what they depend on, unless `alone` is set: a program that needs nothing but the C library.
download_into() {
    local tree=$1
    shift
    if [ -n "${alone:-}" ]; then
        (cd "$tree/cache/archives" && apt-get -qq download "$@")
    else
        apt-get -qq -y --download-only install "$@"
    fi
}

# Downloads and unpacks packages: unpack_packages TREE OUT SUITE ARCH PACKAGE... An empty SUITE is this machine's own.
unpack_packages() {
    local tree=$1 out=$2 suite=$3 arch=$4 codename deb name version have_mb
    shift 4
    for name in apt-get apt-config apt-cache dpkg dpkg-deb; do
        has "$name" || cannot "this machine has no $name"
    done
    # shellcheck source=/dev/null
    codename=$(. /etc/os-release 2>/dev/null && printf '%s' "${VERSION_CODENAME:-}")
    [ -n "$codename" ] || cannot "/etc/os-release names no VERSION_CODENAME"
    have_mb=$(df -Pm "$out" | awk 'NR == 2 { print $4 }')
    [ "$have_mb" -ge "$DISK_MB_MIN" ] ||
        cannot "$DISK_MB_MIN MB of free space are needed in ${out%/*}, there are $have_mb MB (SEALION_CACHE names another place)"

    mkdir -p "$tree"/{none,parts,state/lists/partial,cache/archives/partial,log}
    : >"$tree/state/status"
    copy_sources "$codename" "$tree" ||
        cannot "no entry for Debian $codename main in /etc/apt/sources.list or /etc/apt/sources.list.d"
    [ -z "$suite" ] || change_release "$codename" "$suite" "$tree"
    write_apt_conf "$tree" "$arch"
    export APT_CONFIG="$tree/apt.conf"

    say "reading package lists of Debian ${suite:-$codename}"
    if ! apt-get -qq update </dev/null >"$tree/log/update" 2>&1; then
        cat "$tree/log/update" >&2
        cannot "the package lists could not be read or verified (the mirror, or the archive's keyring: package debian-archive-keyring)"
    fi
    cat "$tree/log/update" >&2 # A mirror that did not answer is a warning; what is missing shows below.
    check_candidate "${suite:-$codename}"
    say "downloading $bundle and what it needs"
    if ! download_into "$tree" "$@" </dev/null >"$tree/log/download" 2>&1; then
        cat "$tree/log/download" >&2
        cannot "the packages could not be downloaded"
    fi

    say "unpacking"
    : >"$tree/stamp"
    for deb in "$tree"/cache/archives/*.deb; do
        name=$(dpkg-deb -f "$deb" Package)
        version=$(dpkg-deb -f "$deb" Version)
        # Under the host's own loader: a loader wants the C library that it was built with.
        if [ -z "$suite" ] && [ "$arch" = "$(dpkg --print-architecture)" ]; then
            case $name in libc6 | libc-bin) continue ;; esac
        fi
        dpkg-deb -x "$deb" "$out"
        printf '%s=%s\n' "$name" "$version" >>"$tree/stamp"
        rm -f "$deb"
    done
    find "$out" -type f -perm /6000 -exec chmod a-s {} + # Nothing in a cache may be set-uid.
    chmod 0755 "$out"                                    # mktemp made it 0700; servers may run as another user.
}

# The release has the version that the bundle is named for, or the reason is told.
check_candidate() {
    local package wanted candidate
    case $bundle in
    galera-10.11) package=mariadb-server wanted=10.11 ;;
    mariadb-11.8) package=mariadb-server wanted=11.8 ;;
    mysql-9.7) package=mysql-server-core wanted=9.7 ;;
    nats) package=nats-server wanted=2.10 ;;
    *) return 0 ;;
    esac
    candidate=$(apt-cache policy "$package" | awk '$1 == "Candidate:" { print $2 }')
    case ${candidate#*:} in
    "$wanted".*) ;;
    *) cannot "$bundle needs $package $wanted; Debian $1 offers ${candidate:-none}" ;;
    esac
}

make_galera() {
    local tree=$1 out=$2 name
    local packages=(mariadb-server galera-4 galera-arbitrator-4 mariadb-backup rsync socat stunnel4)
    # The SST scripts call these; nearly every machine has them.
    if ! has ip || ! has ss; then packages+=(iproute2); fi
    if ! has ps; then packages+=(procps); fi
    if ! has lsof; then packages+=(lsof); fi
    if ! has openssl; then packages+=(openssl); fi
    has dpkg || cannot "this machine has no dpkg"
    unpack_packages "$tree" "$out" "" "$(dpkg --print-architecture)" "${packages[@]}"
    for name in usr/sbin/mariadbd usr/bin/mariadb usr/bin/mariadb-install-db usr/bin/my_print_defaults \
        usr/lib/galera/libgalera_smm.so usr/bin/garbd usr/bin/mariadb-backup usr/bin/mbstream \
        usr/bin/wsrep_sst_rsync usr/bin/wsrep_sst_mariabackup usr/bin/rsync usr/bin/socat usr/bin/stunnel; do
        [ -e "$out/$name" ] || cannot "the packages hold no $name"
    done
    local lib
    lib=$(dirname "$(find "$out/usr/lib" -maxdepth 2 -name 'libssl.so.3' | head -n 1)")
    if ! LD_LIBRARY_PATH="$lib:$out/lib/${lib##*/}" "$out/usr/sbin/mariadbd" --no-defaults --version >"$tree/log/version" 2>&1; then
        cat "$tree/log/version" >&2
        cannot "the unpacked mariadbd does not start on this machine"
    fi
    sort "$tree/stamp" >"$out/stamp"
}

make_ssh() {
    local tree=$1 out=$2 name
    has dpkg || cannot "this machine has no dpkg"
    unpack_packages "$tree" "$out" "" "$(dpkg --print-architecture)" openssh-server openssh-client
    for name in usr/sbin/sshd usr/bin/ssh usr/bin/ssh-keygen; do
        [ -e "$out/$name" ] || cannot "the packages hold no $name"
    done
    sort "$tree/stamp" >"$out/stamp"
}

make_haproxy() {
    local tree=$1 out=$2
    has dpkg || cannot "this machine has no dpkg"
    unpack_packages "$tree" "$out" "" "$(dpkg --print-architecture)" haproxy
    [ -e "$out/usr/sbin/haproxy" ] || cannot "the packages hold no usr/sbin/haproxy"
    sort "$tree/stamp" >"$out/stamp"
}

make_prometheus() {
    local tree=$1 out=$2
    has dpkg || cannot "this machine has no dpkg"
    alone=yes unpack_packages "$tree" "$out" "" "$(dpkg --print-architecture)" prometheus
    [ -e "$out/usr/bin/promtool" ] || cannot "the package holds no usr/bin/promtool"
    rm -rf "$out/etc" "$out/lib" "$out/var" "$out/usr/share" "$out/usr/bin/prometheus"
    sort "$tree/stamp" >"$out/stamp"
}

# A program of Go, which needs no loader of its own.
make_nats() {
    local tree=$1 out=$2
    has dpkg || cannot "this machine has no dpkg"
    unpack_packages "$tree" "$out" trixie "$(dpkg --print-architecture)" nats-server
    [ -e "$out/usr/sbin/nats-server" ] || cannot "the packages hold no usr/sbin/nats-server"
    if ! "$out/usr/sbin/nats-server" --version >"$tree/log/version" 2>&1; then
        cat "$tree/log/version" >&2
        cannot "the unpacked nats-server does not start on this machine"
    fi
    sort "$tree/stamp" >"$out/stamp"
}

# A server of another release, with its own loader and C library.
make_foreign() {
    local tree=$1 out=$2 suite=$3 program=$4 loader lib
    shift 4
    has dpkg || cannot "this machine has no dpkg"
    unpack_packages "$tree" "$out" "$suite" "$(dpkg --print-architecture)" "$@"
    loader=$(find "$out/usr/lib" -maxdepth 2 -name 'ld-linux-*.so.*' | head -n 1)
    [ -n "$loader" ] || cannot "the packages hold no loader"
    lib=$(dirname "$loader")
    if ! "$loader" --library-path "$lib" "$out/$program" --no-defaults --version >"$tree/log/version" 2>&1; then
        cat "$tree/log/version" >&2
        cannot "the unpacked $program does not start on this machine"
    fi
    sort "$tree/stamp" >"$out/stamp"
}

# MySQL 5.5.9 with yaSSL, as Connector/MXJ carried it; the 64-bit build in there has no TLS.
make_mysql55() {
    local tree=$1 out=$2 jar inner suite
    local artifact=mysql:mysql-connector-mxj-db-files:5.0.12
    for inner in mvn unzip; do has "$inner" || cannot "this machine has no $inner"; done
    mkdir -p "$tree/mvn"
    say "downloading $artifact (140 MB)"
    if ! mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact="$artifact" \
        -DoutputDirectory="$tree/mvn" >"$tree/mvn.log" 2>&1; then
        tail -n 20 "$tree/mvn.log" >&2
        cannot "Maven could not fetch $artifact"
    fi
    # The release alone: a C library for a server of 2011 needs no update.
    # shellcheck source=/dev/null
    suite=$(. /etc/os-release 2>/dev/null && printf '%s' "${VERSION_CODENAME:-}")
    unpack_packages "$tree" "$out" "$suite" i386 libc6 libstdc++6 zlib1g libcrypt1 libgcc-s1 libaio1
    jar=$(find "$tree/mvn" -name '*.jar' | head -n 1)
    mkdir -p "$out/mysql" "$tree/inner"
    unzip -q -o -d "$tree/inner" "$jar" '5-5-9/Linux-i386/mysqld' '5-5-9/*data_dir.jar' '5-5-9/*share_dir.jar'
    find "$tree/inner" -name mysqld -exec mv {} "$out/mysql/mysqld" \;
    for inner in data_dir share_dir; do
        mkdir -p "$out/mysql/$inner"
        find "$tree/inner" -name "$inner.jar" -exec unzip -q -o -d "$out/mysql/$inner" {} \;
    done
    chmod 0755 "$out/mysql/mysqld"
    [ -d "$out/mysql/share_dir" ] || cannot "the artifact holds no share directory"
    { printf 'mysql=5.5.9\n' && sort "$tree/stamp"; } >"$out/stamp"
}

main() {
    local refresh=no where=no bundles final
    bundle=galera-10.11
    while [ $# -gt 0 ]; do
        case $1 in
        --refresh) refresh=yes ;;
        --where) where=yes ;;
        galera-10.11 | mariadb-11.8 | mysql-9.7 | mysql-5.5 | ssh | haproxy | nats | prometheus) bundle=$1 ;;
        *)
            printf 'usage: fetch-servers.sh [--refresh] [--where] [galera-10.11|mariadb-11.8|mysql-9.7|mysql-5.5|ssh|haproxy|nats|prometheus]\n' >&2
            exit 2
            ;;
        esac
        shift
    done
    if [ -z "${SEALION_CACHE:-}${XDG_CACHE_HOME:-}${HOME:-}" ]; then
        printf 'error: none of SEALION_CACHE, XDG_CACHE_HOME and HOME is set\n  next: set SEALION_CACHE to the directory for downloaded servers\n' >&2
        exit 2
    fi
    bundles=${SEALION_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/sealion}/bundles
    final=$bundles/$bundle
    if [ "$where" = yes ]; then
        printf '%s\n' "$final"
        [ -e "$final/stamp" ] || exit 3
        exit 0
    fi
    if [ -e "$final/stamp" ] && [ "$refresh" = no ]; then
        printf '%s\n' "$final"
        exit 0
    fi

    mkdir -p "$bundles"
    bundles=$(cd "$bundles" && pwd -P)
    final=$bundles/$bundle
    has flock || cannot "the program flock is missing (package util-linux)"
    exec 9>"$bundles/.lock"
    if ! flock -n 9; then
        say "another run is making a bundle; waiting for it"
        flock 9
        refresh=no # Whoever held the lock has just made it.
    fi
    if [ -e "$final/stamp" ] && [ "$refresh" = no ]; then
        printf '%s\n' "$final"
        exit 0
    fi

    rm -rf "$bundles/.$bundle".* # Left by a run that was killed; nobody else builds while we hold the lock.
    work=$(mktemp -d "$bundles/.$bundle.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    umask 022
    mkdir "$work/tree" "$work/out"
    case $bundle in
    galera-10.11) make_galera "$work/tree" "$work/out" ;;
    mariadb-11.8)
        make_foreign "$work/tree" "$work/out" trixie usr/sbin/mariadbd mariadb-server mariadb-server-core \
            mariadb-client galera-4 mariadb-backup openssl
        ;;
    mysql-9.7)
        make_foreign "$work/tree" "$work/out" sid usr/sbin/mysqld mysql-server-core mysql-client-core openssl
        ;;
    mysql-5.5) make_mysql55 "$work/tree" "$work/out" ;;
    ssh) make_ssh "$work/tree" "$work/out" ;;
    haproxy) make_haproxy "$work/tree" "$work/out" ;;
    nats) make_nats "$work/tree" "$work/out" ;;
    prometheus) make_prometheus "$work/tree" "$work/out" ;;
    esac
    if [ -e "$final" ]; then mv "$final" "$work/old"; fi
    mv "$work/out" "$final"
    say "$(grep -c . "$final/stamp") packages in $final ($(du -sm "$final" | cut -f 1) MB)"
    printf '%s\n' "$final"
}

main "$@"
