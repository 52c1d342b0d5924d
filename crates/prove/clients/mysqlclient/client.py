import os
import sys
from importlib.metadata import version

import MySQLdb

CA = {"ca": os.environ.get("SEALION_CA")}
MODES = {
    "default": {},
    "preferred": {"ssl_mode": "PREFERRED"},
    "required": {"ssl_mode": "REQUIRED"},
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
    **MODES[sys.argv[1]],
)
cursor = connection.cursor()
cursor.execute("SELECT 1")
cursor.fetchall()
