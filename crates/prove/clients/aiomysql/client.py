import asyncio
import os
import ssl
import sys
from importlib.metadata import version

import aiomysql


def context(mode):
    if mode == "default":
        return None
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
asyncio.run(asyncio.wait_for(main(sys.argv[1]), 10))
