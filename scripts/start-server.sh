#!/usr/bin/env bash
# Runs a server of a fetched bundle in the foreground, on 127.0.0.1, with a data directory of its own:
#
#   start-server.sh galera-10.11|mariadb-11.8|mysql-9.7|mysql-5.5 DIR PORT [option of the server ...]
#
# DIR is made: DIR/data (initialised if it is not there), DIR/socket, DIR/log, DIR/cert.pem and DIR/key.pem (RSA-2048, for
# localhost and 127.0.0.1). It becomes the server by exec, so the caller's pid of it is the server's. root has no password:
# for benchmarks and recordings, on a loopback where nobody else is. X Protocol of MySQL is on PORT + 1.
set -euo pipefail

[ $# -ge 3 ] || {
    printf 'usage: start-server.sh BUNDLE DIR PORT [option ...]\n' >&2
    exit 2
}
name=$1 dir=$2 port=$3
shift 3
bundle=${SEALION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sealion}/bundles/$name
[ -e "$bundle/stamp" ] || {
    printf 'start-server: there is no %s: sealion lab fetch %s\n' "$bundle" "$name" >&2
    exit 3
}
# Of an ordinary user; a server does not raise it by itself as far as it may.
ulimit -Sn "$(ulimit -Hn)"
mkdir -p "$dir"
dir=$(cd "$dir" && pwd -P)
[ -e "$dir/cert.pem" ] || openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj "/CN=localhost" \
    -addext "subjectAltName=DNS:localhost,IP:127.0.0.1" -keyout "$dir/key.pem" -out "$dir/cert.pem" 2>/dev/null
exec >"$dir/log" 2>&1
# Its own: a server that starts removes temporary tables in tmpdir, those of another server too.
mkdir -p "$dir/tmp"
lib=$bundle/usr/lib/x86_64-linux-gnu
common=(--no-defaults "--datadir=$dir/data" "--port=$port" "--bind-address=127.0.0.1" "--socket=$dir/socket"
    "--pid-file=$dir/pid" "--user=$(id -un 2>/dev/null || true)" "--tmpdir=$dir/tmp")
tls=("--ssl-ca=$dir/cert.pem" "--ssl-cert=$dir/cert.pem" "--ssl-key=$dir/key.pem")
share=$bundle/usr/share/mysql
[ -d "$share" ] || share=$bundle/usr/share/mariadb # MariaDB 11.
mariadb=("--basedir=$bundle/usr" "--lc-messages-dir=$share" "--plugin-dir=$bundle/usr/lib/mysql/plugin"
    "--character-sets-dir=$share/charsets")
case $name in
galera-10.11 | mariadb-11.8)
    run=("$bundle/usr/sbin/mariadbd")
    if [ "$name" = galera-10.11 ]; then
        export LD_LIBRARY_PATH="$lib:$bundle/lib/x86_64-linux-gnu"
    else
        run=("$lib/ld-linux-x86-64.so.2" --library-path "$lib" "${run[@]}")
    fi
    if [ ! -d "$dir/data/mysql" ]; then
        # What mariadb-install-db does, without its search for programs that a foreign loader must run.
        mkdir -p "$dir/data/mysql"
        {
            printf 'use mysql;\n'
            printf 'SET @auth_root_socket=NULL;\nSET @skip_auth_anonymous=1;\n' # The bootstrap takes one statement a line.
            for file in system_tables.sql performance_tables.sql system_tables_data.sql; do
                cat "$share"/*_"$file"
            done
        } >"$dir/tmp/bootstrap.sql"
        "${run[@]}" "${common[@]}" "${mariadb[@]}" --bootstrap --skip-grant-tables --log-warnings=0 --loose-skip-innodb-log-write \
            <"$dir/tmp/bootstrap.sql"
    fi
    exec "${run[@]}" "${common[@]}" "${mariadb[@]}" "${tls[@]}" "$@"
    ;;
mysql-9.7)
    run=("$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$bundle/usr/sbin/mysqld")
    mysql=("${common[@]}" "--basedir=$bundle/usr" "--lc-messages-dir=$bundle/usr/share/mysql" --secure-file-priv=NULL
        "--character-sets-dir=$bundle/usr/share/mysql/charsets" "--plugin-dir=$bundle/usr/lib/mysql/plugin")
    [ -d "$dir/data/mysql" ] || "${run[@]}" "${mysql[@]}" --initialize-insecure
    exec "${run[@]}" "${mysql[@]}" "${tls[@]}" "--mysqlx-port=$((port + 1))" "--mysqlx-socket=$dir/x.socket" \
        --mysqlx-bind-address=127.0.0.1 "$@"
    ;;
mysql-5.5)
    lib=$bundle/lib/i386-linux-gnu:$bundle/usr/lib/i386-linux-gnu
    run=("$bundle/lib/i386-linux-gnu/ld-linux.so.2" --library-path "$lib" "$bundle/mysql/mysqld")
    # yaSSL reads PKCS#1 only, and takes no certificate of the minute that it was made in.
    sleep $((61 - 10#$(date +%S)))
    openssl rsa -in "$dir/key.pem" -traditional -out "$dir/key1.pem" 2>/dev/null
    [ -d "$dir/data" ] || cp -r "$bundle/mysql/data_dir" "$dir/data"
    language=$(find "$bundle/mysql/share_dir" -type d -name english | head -n 1)
    exec "${run[@]}" "${common[@]}" "--basedir=$bundle/mysql" "--language=$language" --skip-grant-tables \
        "--character-sets-dir=${language%/*}/charsets" "--ssl-ca=$dir/cert.pem" "--ssl-cert=$dir/cert.pem" \
        "--ssl-key=$dir/key1.pem" "$@"
    ;;
*)
    printf 'start-server: no bundle is named %s\n' "$name" >&2
    exit 2
    ;;
esac
