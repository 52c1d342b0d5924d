"""A shop that puts what it is sent into the text of its statements, made to be attacked in a test: it listens on loopback, inside of the test's own network.

usage: shop.py SOCKET PORT

A request whose values are plain goes to the server as `app_honest`, any other as `app_injected`, so that whoever reads the server's
records afterwards knows which statement was an injection. Each account has one session, which stays until the end.
"""
import http.server
import re
import sys
import threading
import urllib.parse

import pymysql
from pymysql.constants import CLIENT

PLAIN = re.compile(r"[A-Za-z0-9_]{0,20}( [A-Za-z0-9_]{1,12})?")
# One template for each place in which a value may stand. The last one lets several statements through.
TEMPLATES = {
    "/number": "SELECT id, name, price FROM product WHERE id = {value} ORDER BY name LIMIT 5",
    "/string": "SELECT id, name FROM product WHERE name = '{value}' AND live = 1",
    "/like": "SELECT id, name, price FROM product WHERE name LIKE '%{value}%' ORDER BY price",
    "/order": "SELECT id, name FROM product ORDER BY {value}",
    "/column": "SELECT {value} FROM product WHERE id = 1",
    "/login": "SELECT id, name FROM member WHERE name = '{value}' AND password = '{other}'",
    "/stacked": "SELECT id, name FROM product WHERE id = {value}",
}


class Account:
    def __init__(self, user):
        self.lock = threading.Lock()
        self.session = pymysql.connect(
            unix_socket=sys.argv[1], user=user, password="shop", database="shop", autocommit=True,
            client_flag=CLIENT.MULTI_STATEMENTS,
        )

    def rows(self, sql):
        with self.lock, self.session.cursor() as cursor:
            try:
                cursor.execute(sql)
                rows = list(cursor.fetchall())
                while cursor.nextset():
                    pass
                return "".join(f"<li>{row}</li>" for row in rows)
            except pymysql.Error as error:
                while self.session.next_result and cursor.nextset():
                    pass
                return f"error: {error}"


class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        values = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        value, other = values.get("value", ""), values.get("other", "")
        template = TEMPLATES.get(url.path)
        if template is None:
            self.answer("no such page")
            return
        is_plain = PLAIN.fullmatch(value) and PLAIN.fullmatch(other)
        account = HONEST if is_plain else INJECTED
        self.answer(account.rows(template.replace("{value}", value).replace("{other}", other)))

    def answer(self, text):
        body = f"<html><body><h1>Shop</h1><ul>{text}</ul></body></html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


HONEST, INJECTED = Account("app_honest"), Account("app_injected")
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Shop)
print("the shop is open", file=sys.stderr, flush=True)
server.serve_forever()
