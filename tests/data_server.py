#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A web server that behaves as badly as asked, for the tests of downloads.

usage: data_server.py FOLDER

Prints its port on the first line. The first part of a path says how FOLDER's file of the rest of the
path is served:
  /ok/F       with ranges         /norange/F  whole, whatever range was asked for
  /cut/F      the first request ends after half of the bytes that its head promised
  /busy/F     503 twice, then as ok             /gone/F   404
  /login/F    200 with a web page               /slow/F   in pieces, for about two seconds
  /move/F     redirects to /ok/F                /long/F   with bytes behind its end
  /range416/F 416 to any range
/log answers with one line for each request before: method, path, range asked for, bytes sent.
"""
import http.server
import os
import re
import sys
import threading
import time

folder = sys.argv[1]
requests = []
counts = {}
guard = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def note(self, sent):
        with guard:
            requests.append(f"{self.command} {self.path} {self.headers.get('Range', '-')} {sent}")

    def reply(self, status, body, length=None, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.note(len(body))
        self.wfile.write(body)

    def do_GET(self):
        if self.path.startswith("http://"):  # asked as a proxy
            self.path = "/" + self.path.split("/", 3)[3]
        if self.path == "/log":
            with guard:
                text = "\n".join(requests) + "\n"
            self.reply(200, text.encode())
            return
        mode, _, name = self.path.lstrip("/").partition("/")
        with guard:
            counts[self.path] = counts.get(self.path, 0) + 1
            turn = counts[self.path]
        path = os.path.join(folder, name)
        if mode == "gone" or not os.path.isfile(path):
            self.reply(404, b"not here")
            return
        with open(path, "rb") as file:
            data = file.read()
        self.serve(mode, name, data, turn)

    def serve(self, mode, name, data, turn):
        if mode == "busy" and turn <= 2:
            self.reply(503, b"later")
        elif mode == "login":
            self.reply(200, b"<!DOCTYPE html><html>please log in</html>")
        elif mode == "move":
            self.reply(302, b"", headers=[("Location", "/ok/" + name)])
        elif mode == "long":
            self.reply(200, data + b"more")
        elif mode == "norange":
            self.reply(200, data)
        elif mode == "range416" and "Range" in self.headers:
            self.reply(416, b"")
        elif mode == "slow":
            self.slowly(data)
        else:
            self.ranged(data, cut=mode == "cut" and turn == 1)

    def slowly(self, data):
        self.note(len(data))
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        step = max(1, len(data) // 20)
        for at in range(0, len(data), step):
            self.wfile.write(data[at:at + step])
            self.wfile.flush()
            time.sleep(0.1)

    def ranged(self, data, cut):
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(match.group(1)) if match else 0
        if match and start >= len(data):
            self.reply(416, b"", headers=[("Content-Range", f"bytes */{len(data)}")])
            return
        rest = data[start:]
        headers = []
        if match:
            headers.append(("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}"))
        if cut:
            self.close_connection = True
        self.reply(206 if match else 200, rest[:len(rest) // 2] if cut else rest, len(rest), headers)


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *args):
        """A client that hangs up is what the tests do."""


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
server.serve_forever()
