import json
import os
import sys

if sys.argv[1] == "c":
    # 26.10.0 brings an OpenSSL that is newer than Debian 12's: where Python has loaded that one before, there is no extension.
    import _mysql_connector  # noqa: F401

import mysql.connector

CA = os.environ.get("SEALION_CA")
MODES = {
    "default": {},
    "disabled": {"ssl_disabled": True},
    "ca": {"ssl_ca": CA},
    "verify-cert": {"ssl_ca": CA, "ssl_verify_cert": True},
    "verify-identity": {"ssl_ca": CA, "ssl_verify_cert": True, "ssl_verify_identity": True},
}
if sys.argv[2] == "version":
    if sys.argv[1] == "c" and not mysql.connector.HAVE_CEXT:
        sys.exit("this build has no C extension")
    print(mysql.connector.__version__)
    sys.exit()
connection = mysql.connector.connect(
    host=os.environ["SEALION_HOST"],
    port=int(os.environ["SEALION_PORT"]),
    user=os.environ["SEALION_USER"],
    password=os.environ["SEALION_PASSWORD"],
    connection_timeout=5,
    use_pure=sys.argv[1] == "pure",
    **(json.loads(os.environ["SEALION_SETTINGS"]) if sys.argv[2] == "settings" else MODES[sys.argv[2]]),
)
cursor = connection.cursor()
cursor.execute("SELECT 1")
cursor.fetchall()
