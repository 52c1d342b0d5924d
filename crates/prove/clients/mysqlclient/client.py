import json
import os
import sys
from importlib.metadata import version

import MySQLdb


def told():
    """What SEALION_SETTINGS says; "ssl.ca" is the key "ca" of what "ssl" is."""
    options = {}
    for key, value in json.loads(os.environ["SEALION_SETTINGS"]).items():
        outer, _, inner = key.partition(".")
        if inner:
            options.setdefault(outer, {})[inner] = value
        else:
            options[key] = value
    return options

CA = {"ca": os.environ.get("SEALION_CA")}
MODES = {
    "default": {},
    "preferred": {"ssl_mode": "PREFERRED"},
    "required": {"ssl_mode": "REQUIRED"},
    "required-ca": {"ssl_mode": "REQUIRED", "ssl": CA},
    "ca": {"ssl": CA},
    "verify-ca": {"ssl_mode": "VERIFY_CA", "ssl": CA},
    "verify-identity": {"ssl_mode": "VERIFY_IDENTITY", "ssl": CA},
}
if sys.argv[1] == "version":
    print(version("mysqlclient"), "on", MySQLdb.get_client_info())
    sys.exit()
connection = MySQLdb.connect(
    host=os.environ["SEALION_HOST"],
    port=int(os.environ["SEALION_PORT"]),
    user=os.environ["SEALION_USER"],
    password=os.environ["SEALION_PASSWORD"],
    connect_timeout=5,
    **(told() if sys.argv[1] == "settings" else MODES[sys.argv[1]]),
)
cursor = connection.cursor()
cursor.execute("SELECT 1")
cursor.fetchall()
