import json
import os
import ssl
import sys
from importlib.metadata import version

import pymysql


def told():
    """What SEALION_SETTINGS says; "ssl.ca" is the key "ca" of what "ssl" is, "ssl.cafile" and its like what a context is made of."""
    said = json.loads(os.environ["SEALION_SETTINGS"])
    options, inner = {}, {}
    for key, value in said.items():
        outer, _, rest = key.partition(".")
        if rest:
            inner[rest] = value
        elif value != "{}":
            options[key] = value
    if said.get("ssl") == "create_default_context":
        # A machine whose own store has the CA.
        os.environ["SSL_CERT_FILE"] = os.environ["SEALION_CA"]
        made = ssl.create_default_context(cafile=inner.get("cafile"), capath=inner.get("capath"))
        if "check_hostname" in inner:
            made.check_hostname = inner["check_hostname"]
        if "verify_mode" in inner:
            made.verify_mode = getattr(ssl, inner["verify_mode"])
        return {**options, "ssl": made}
    if inner:
        options["ssl"] = inner
        # Words of its own take the place of the CA that stands here.
        os.environ["SSL_CERT_FILE"] = os.environ["SEALION_CA"]
    return options


MODES = {
    "default": {},
    "ssl-dict": {"ssl": {"check_hostname": False}},
    "ca": {"ssl_ca": "CA"},
    "verify-cert": {"ssl_ca": "CA", "ssl_verify_cert": True},
    "dict-ca": {"ssl": {"ca": os.environ.get("SEALION_CA")}},
    "dict-ca-any-host": {"ssl": {"ca": os.environ.get("SEALION_CA"), "check_hostname": False}},
    "verify-identity": {"ssl_ca": "CA", "ssl_verify_cert": True, "ssl_verify_identity": True},
}
if sys.argv[1] == "version":
    print(version("PyMySQL"))
    sys.exit()
chosen = told() if sys.argv[1] == "settings" else MODES[sys.argv[1]]
options = {key: os.environ["SEALION_CA"] if value == "CA" else value for key, value in chosen.items()}
connection = pymysql.connect(
    host=os.environ["SEALION_HOST"],
    port=int(os.environ["SEALION_PORT"]),
    user=os.environ["SEALION_USER"],
    password=os.environ["SEALION_PASSWORD"],
    connect_timeout=5,
    read_timeout=5,
    **options,
)
with connection.cursor() as cursor:
    cursor.execute("SELECT 1")
    cursor.fetchall()
