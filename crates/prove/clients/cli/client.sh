#!/usr/bin/env bash
# client.sh BUNDLE TOOL MODE: a command line tool of a fetched bundle (sealion lab fetch BUNDLE).
set -euo pipefail
bundle=${SEALION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sealion}/bundles/$1
[ -e "$bundle/stamp" ] || {
    echo "there is no bundle $1: sealion lab fetch $1" >&2
    exit 3
}
lib=$(dirname "$(find "$bundle/usr/lib" -maxdepth 2 -name 'libssl.so.3' | head -n 1)")
case $1 in
galera-10.11)
    export LD_LIBRARY_PATH="$lib:$bundle/lib/${lib##*/}"
    client=("$bundle/usr/bin/$2")
    ;;
*) client=("$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$bundle/usr/bin/$2") ;;
esac
case $3 in
version)
    # mariadb-binlog counts versions of its own: those of its package are what people know.
    [ "$2" != mariadb-binlog ] || client=("${client[@]/%mariadb-binlog/mariadb}")
    # "… Ver 9.7.4 …", "… Ver 15.1 Distrib 10.11.19-MariaDB, …", "… from 11.8.9-MariaDB, …"
    "${client[@]}" --no-defaults --version | grep -oE '(Distrib|from|Ver) [0-9.]*[0-9]' | sort | head -n 1 | cut -d' ' -f2
    exit
    ;;
default | env-password | settings) words=() ;;
ssl) words=(--ssl) ;;
ca) words=("--ssl-ca=$SEALION_CA") ;;
verify) words=("--ssl-ca=$SEALION_CA" --ssl-verify-server-cert) ;;
skip-verify) words=(--ssl --skip-ssl-verify-server-cert) ;;
skip-ssl) words=(--skip-ssl) ;;
disabled) words=(--ssl-mode=DISABLED) ;;
required) words=(--ssl-mode=REQUIRED) ;;
required-ca) words=(--ssl-mode=REQUIRED "--ssl-ca=$SEALION_CA") ;;
verify-ca) words=(--ssl-mode=VERIFY_CA "--ssl-ca=$SEALION_CA") ;;
verify-identity) words=(--ssl-mode=VERIFY_IDENTITY "--ssl-ca=$SEALION_CA") ;;
esac
case $2 in
*dump) task=(shop) ;;
*binlog) task=(--read-from-remote-server binlog.000001) ;;
*) task=(--connect-timeout=5 -e 'SELECT 1') ;;
esac
case $1 in
galera-*) plugins=$bundle/usr/lib/mysql/plugin ;;
*) plugins=$(find "$bundle/usr/lib" -type d -path '*plugin' | head -n 1) ;;
esac
other=$(find "$bundle/usr/lib" -type d -path '*libmariadb3/plugin' | head -n 1)
[ -z "$other" ] || plugins=$other
# Without a password of its own a client of MariaDB 11 verifies nothing, so it gets it as people give it: in an option file.
defaults=--no-defaults
if [ "$3" != env-password ]; then
    unset MYSQL_PWD
    told=
    [ "$3" != settings ] || told=$SEALION_SETTINGS
    (umask 077 && printf '[client]\npassword="%s"\n%s\n' "$SEALION_PASSWORD" "$told" >own.cnf)
    defaults=--defaults-file=$PWD/own.cnf
fi
exec "${client[@]}" "$defaults" --protocol=tcp "--plugin-dir=$plugins" -h "$SEALION_HOST" -P "$SEALION_PORT" \
    -u "$SEALION_USER" "${words[@]}" "${task[@]}"
