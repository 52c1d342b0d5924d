#!/usr/bin/env bash
# replica.sh BUNDLE MODE: a replica of a fetched bundle (sealion lab fetch BUNDLE), pointed at the source that SEALION_HOST and
# SEALION_PORT name. Its server lives in this directory for a few seconds; it is ended by its own pid.
set -euo pipefail
unset MYSQL_PWD # It is for the source, not for our own server.
bundle=${SEALION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sealion}/bundles/$1
[ -e "$bundle/stamp" ] || {
    echo "there is no $bundle: sealion lab fetch $1" >&2
    exit 3
}
lib=$(dirname "$(find "$bundle/usr/lib" -maxdepth 2 -name 'libssl.so.3' | head -n 1)")
case $1 in
galera-10.11)
    client=(env "LD_LIBRARY_PATH=$lib:$bundle/lib/${lib##*/}" "$bundle/usr/bin/mariadb")
    ;;
mariadb-*) client=("$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$bundle/usr/bin/mariadb") ;;
*) client=("$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$bundle/usr/bin/mysql") ;;
esac
if [ "$2" = version ]; then
    "${client[@]}" --no-defaults --version | sed -n 's/.*\(Distrib\|Ver\|from\) *\([0-9][0-9.]*[0-9]\).*/\2/p'
    exit
fi
dir=$PWD/s
# A socket's path has room for 107 bytes.
[ ${#dir} -le 90 ] || {
    echo "the path of $dir is too long for a socket" >&2
    exit 3
}
port=$((20000 + $$ % 20000))
bash ./start-server.sh "$1" "$dir" "$port" --server-id=77 --skip-log-bin --skip-networking --relay-log="$dir/relay" &
server=$!
trap 'kill $server 2>/dev/null || true; wait' EXIT
sql() { "${client[@]}" --no-defaults -u root -S "$dir/socket" -N -e "$1"; }
for _ in $(seq 300); do
    if sql 'SELECT 1' >/dev/null 2>&1; then break; fi
    kill -0 $server
    sleep 0.1
done
common="@_HOST='$SEALION_HOST', @_PORT=$SEALION_PORT, @_USER='$SEALION_USER', @_PASSWORD='$SEALION_PASSWORD', @_CONNECT_RETRY=60"
case $2 in
default) tls= ;;
ssl) tls=", @_SSL=1" ;;
ca) tls=", @_SSL=1, @_SSL_CA='$SEALION_CA'" ;;
verify) tls=", @_SSL=1, @_SSL_CA='$SEALION_CA', @_SSL_VERIFY_SERVER_CERT=1" ;;
no-ssl) tls=", @_SSL=0" ;;
esac
case $1 in
mysql-*) word=SOURCE change='CHANGE REPLICATION SOURCE TO' begin='START REPLICA IO_THREAD' end='STOP REPLICA; RESET REPLICA ALL' ;;
*) word=MASTER change='CHANGE MASTER TO' begin='START SLAVE IO_THREAD' end='STOP SLAVE; RESET SLAVE ALL' ;;
esac
all="$common$tls"
sql "$end" >/dev/null 2>&1 || true
# The password goes over a pipe: it is of this run alone, and an argument list is read by everybody all the same.
printf '%s %s;\n%s;\n' "$change" "${all//@_/${word}_}" "$begin" | "${client[@]}" --no-defaults -u root -S "$dir/socket"
# Until it has given up, or for a moment while it is content.
for _ in $(seq 30); do
    sleep 0.1
    case $1 in
    mysql-*) failed=$(sql 'SELECT LAST_ERROR_NUMBER FROM performance_schema.replication_connection_status' || true) ;;
    *) failed=$(sql 'SHOW SLAVE STATUS\G' | sed -n 's/.*Last_IO_Errno: //p' || true) ;;
    esac
    case $failed in [1-9]*) break ;; esac
done
sql "$end" >/dev/null 2>&1 || true
