import asyncio
import json
import os
import ssl
import sys
from importlib.metadata import version

import aiomysql


def from_settings():
    """What SEALION_SETTINGS says; "ssl.cafile" and its like are what the context is made of."""
    said = json.loads(os.environ["SEALION_SETTINGS"])
    inner = {key.removeprefix("ssl."): value for key, value in said.items() if key.startswith("ssl.")}
    if said.get("ssl") != "create_default_context":
        return inner or said.get("ssl")
    made = ssl.create_default_context(cafile=inner.get("cafile"), capath=inner.get("capath"))
    if "check_hostname" in inner:
        made.check_hostname = inner["check_hostname"]
    if "verify_mode" in inner:
        made.verify_mode = getattr(ssl, inner["verify_mode"])
    return made


def context(mode):
    if mode == "default":
        return None
    if mode == "settings":
        return from_settings()
    if mode == "system":
        return ssl.create_default_context()
    made = ssl.create_default_context(cafile=os.environ["SEALION_CA"])
    if mode == "unverified":
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    return made


async def main(mode):
    connection = await aiomysql.connect(
        host=os.environ["SEALION_HOST"],
        port=int(os.environ["SEALION_PORT"]),
        user=os.environ["SEALION_USER"],
        password=os.environ["SEALION_PASSWORD"],
        connect_timeout=5,
        ssl=context(mode),
    )
    async with connection.cursor() as cursor:
        await cursor.execute("SELECT 1")
        await cursor.fetchall()


if sys.argv[1] == "version":
    print(version("aiomysql"))
    sys.exit()
# A machine whose own store has the CA.
os.environ["SSL_CERT_FILE"] = os.environ["SEALION_CA"]
asyncio.run(asyncio.wait_for(main(sys.argv[1]), 10))
