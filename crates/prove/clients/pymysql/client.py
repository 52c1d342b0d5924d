import os
import sys
from importlib.metadata import version

import pymysql

MODES = {
    "default": {},
    "ssl-dict": {"ssl": {"check_hostname": False}},
    "ca": {"ssl_ca": "CA"},
    "verify-cert": {"ssl_ca": "CA", "ssl_verify_cert": True},
    "verify-identity": {"ssl_ca": "CA", "ssl_verify_cert": True, "ssl_verify_identity": True},
}
if sys.argv[1] == "version":
    print(version("PyMySQL"))
    sys.exit()
options = {key: os.environ["SEALION_CA"] if value == "CA" else value for key, value in MODES[sys.argv[1]].items()}
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
