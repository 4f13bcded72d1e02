# SPDX-License-Identifier: Apache-2.0
"""What the scripts about the admin ways share: the program that has them open, raw sockets, and the
command."""
import json
import os
import pathlib
import select
import shutil
import socket
import subprocess
import tempfile
import time

import tap

SERVER = os.environ.get("WEIR_ADMIN_SERVER", str(tap.BUILD / "tests/admin_server"))
WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))
TOKEN = "a-token-of-24-characters"


class Server:
    """tests/contract/admin_server with these keys of weir.admin."""

    def __init__(self, **keys):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-admin-"))
        keys.setdefault("socket", str(self.folder / "a.sock"))
        self.process = subprocess.Popen(
            [SERVER, *(f"{key.replace('__', '.').replace('_', '-')}={json.dumps(value)}"
                       for key, value in keys.items())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "WEIR_ADMIN_TOKEN": ""})
        self.socket = self.url = ""
        self.said = ""
        for line in self.process.stdout:
            word, _, rest = line.strip().partition(" ")
            if word == "socket":
                self.socket = rest
            elif word == "url":
                self.url = rest
            elif word == "ready":
                break
        else:
            self.said = self.process.stderr.read()

    @property
    def address(self):
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        return host.strip("[]"), int(port)

    @property
    def host(self):
        return self.url.removeprefix("http://")

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def close(self):
        """Its exit status."""
        self.process.stdin.close()
        status = self.process.wait(timeout=30)
        self.process.stdout.close()
        self.process.stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def admin(self, *words, **options):
        """(exit status, standard output, standard error) of `weir admin --socket`."""
        done = subprocess.run([WEIR, "admin", "--socket", self.socket, *words],
                              capture_output=True, text=True, timeout=tap.TIMEOUT_S, check=False,
                              **options)
        return done.returncode, done.stdout, done.stderr

    def ask(self, *words):
        """The answer as JSON, over the socket."""
        return json.loads(self.line(json.dumps({"words": words}).encode() + b"\n"))

    def line(self, data, close=False):
        """Raw bytes to the socket, what comes back up to the newline."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(20)
            s.connect(self.socket)
            try:
                s.sendall(data)
                if close:
                    s.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # refused before it was sent; the answer counts
            return receive(s, b"\n")

    def refused(self, way="http"):
        """Reason to count."""
        return {row["what"]: row["refused"] for row in self.ask("admin")["rows"]
                if row["way"] == way and "connections" not in row}

    def connect(self, seconds=20):
        """A connection to HTTP."""
        return socket.create_connection(self.address, timeout=seconds)

    def raw(self, data, seconds=20):
        """Raw bytes to HTTP, all that comes back."""
        with self.connect(seconds) as s:
            try:
                s.sendall(data)
            except OSError:
                pass  # refused before it was sent; the answer counts
            return receive(s, None)

    def http(self, method, path, body=None, **headers):
        """(status, headers and body as bytes)"""
        fields = {"Host": self.host, **{k.replace("_", "-"): v for k, v in headers.items()}}
        if body is not None:
            fields.setdefault("Content-Type", "application/json")
            fields.setdefault("Content-Length", str(len(body)))
        head = f"{method} {path} HTTP/1.1\r\n" + "".join(
            f"{key}: {value}\r\n" for key, value in fields.items() if value is not None) + "\r\n"
        answer = self.raw(head.encode("latin-1") + (body or b""))
        return status_of(answer), answer


def status_of(answer):
    return int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0


def receive(s, until):
    seen = b""
    end = time.monotonic() + 60  # of an answer that should end, and does not
    while (until is None or until not in seen) and time.monotonic() < end:
        try:
            piece = s.recv(1 << 20)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    return seen


def until(condition, seconds=20):
    """Whether it comes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        select.select([], [], [], 0.01)
    return condition()
