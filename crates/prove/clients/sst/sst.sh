#!/usr/bin/env bash
# sst.sh BUNDLE METHOD MODE: the donor's part of a state transfer, by the program that the server itself would run
# (wsrep_sst_METHOD of a fetched bundle, sealion lab fetch BUNDLE), to the joiner that SEALION_HOST and SEALION_PORT name.
#
# It is run with --bypass, which is how a donor speaks to a joiner that only needs the writesets it missed: the same connection
# with the same TLS, and behind it a position in place of all data. So no server has to run here.
set -euo pipefail
bundle=${SEALION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sealion}/bundles/$1
[ -e "$bundle/stamp" ] || {
    echo "there is no $bundle: sealion lab fetch $1" >&2
    exit 3
}
lib=$(dirname "$(find "$bundle/usr/lib" -maxdepth 2 -name 'libssl.so.3' | head -n 1)")
# Its own programs first: stunnel, socat, rsync and mbstream are the bundle's.
export PATH="$bundle/usr/bin:$bundle/bin:$PATH" LD_LIBRARY_PATH="$lib:$bundle/lib/${lib##*/}"
if [ "$3" = version ]; then
    mariadb --no-defaults --version | sed -n 's/.*\(Distrib\|from\) *\([0-9][0-9.]*[0-9]\).*/\2/p'
    exit
fi
dir=$PWD/s
rm -rf "$dir"
mkdir -p "$dir/data"
trap 'rm -rf "$dir"' EXIT
# A donor shows a certificate too, and looks first whether it is one of the CA: the file has our own CA beside the joiner's.
(
    unset LD_LIBRARY_PATH
    umask 077
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=donor \
        -keyout "$dir/key.pem" -out "$dir/cert.pem" 2>/dev/null
)
cat "$dir/cert.pem" "$SEALION_CA" >"$dir/ca.pem"
key="ssl-cert=$dir/cert.pem"$'\n'"ssl-key=$dir/key.pem"
ca="ssl-ca=$dir/ca.pem"
old="tcert=$dir/cert.pem"$'\n'"tkey=$dir/key.pem"
server='' sst=''
case $3 in
default) ;;
server) server=$ca$'\n'$key ;;
required) server=$ca$'\n'$key sst=ssl-mode=REQUIRED ;;
verify-ca) server=$ca$'\n'$key sst=ssl-mode=VERIFY_CA ;;
verify-identity) server=$ca$'\n'$key sst=ssl-mode=VERIFY_IDENTITY ;;
encrypt-2)
    cat "$dir/key.pem" >>"$dir/cert.pem"
    sst=encrypt=2$'\n'"tca=$dir/ca.pem"$'\n'"tcert=$dir/cert.pem"
    ;;
encrypt-3) sst=encrypt=3$'\n'$old ;;
encrypt-3-ca) sst=encrypt=3$'\n'"tca=$dir/ca.pem"$'\n'$old ;;
encrypt-4) sst=encrypt=4$'\n'"tca=$dir/ca.pem"$'\n'$old ;;
*)
    echo "there is no mode $3" >&2
    exit 2
    ;;
esac
printf '[mysqld]\n%s\n[sst]\n%s\n' "$server" "$sst" >"$dir/my.cnf"
case $2 in
mariabackup) module=xtrabackup_sst//1 ;;
rsync) module=rsync_sst ;;
esac
# As a joiner announces itself: the name of its certificate, and what it expects the donor to know.
WSREP_SST_OPT_REMOTE_AUTH="$SEALION_HOST:of-this-run" bash "$bundle/usr/bin/wsrep_sst_$2" --role donor \
    --address "$SEALION_HOST:$SEALION_PORT/$module" --datadir "$dir/data/" --defaults-file "$dir/my.cnf" --parent $$ \
    --progress 0 --gtid 00000000-0000-0000-0000-000000000001:1 --gtid-domain-id 0 --socket "$dir/socket" \
    --local-port "$SEALION_PORT" --bypass --mysqld-args </dev/null
