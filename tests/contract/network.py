# SPDX-License-Identifier: Apache-2.0
"""Connectors in `weir run`: lines in over TCP and out over TCP, what is counted; and the guide's
tables of options are what the command knows."""
import json
import pathlib
import signal
import socket
import subprocess
import sys

import server
import tap

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LINES = 20000


def counted(name):
    """What `weir admin connectors NAME` says, or {}."""
    status, out, _ = server.weir("admin", "--socket", "weir.sock", "--json", "connectors", name)
    rows = json.loads(out).get("rows", []) if status == 0 else []
    return rows[0] if rows else {}


def read_all(connection, size):
    got = b""
    connection.settimeout(server.PATIENCE_S)
    while len(got) < size and (more := connection.recv(65536)):
        got += more
    return got


def relay(check):
    """python -> tcp -> fan-out -> tcp-sink -> python, and a sink that throws away."""
    peer = socket.create_server(("127.0.0.1", 0))
    pathlib.Path("relay.conf").write_text(f"""
        weir.admin.socket = "{pathlib.Path('weir.sock').absolute()}"
        weir.components {{
          in {{ type = tcp, port = 0 }}
          spread {{ type = fan-out, feeds = [in], targets = [out, waste], failures = 1000000 }}
          out {{ type = tcp-sink, port = {peer.getsockname()[1]}, mailbox-max = 100000 }}
          waste {{ type = discard, mailbox-max = 100000 }}
        }}
    """, encoding="utf-8")
    text = b"".join(b"line %d\n" % number for number in range(LINES))
    with server.Server("--json", "relay.conf") as running:
        port = server.until(lambda: counted("in").get("port"))
        check("the port of a listener is told", bool(port), running.said())
        connection, _ = peer.accept()
        with socket.create_connection(("127.0.0.1", port)) as sender:
            sender.sendall(text)
        got = read_all(connection, len(text))
        check("what goes in over TCP comes out over TCP, in order", got == text,
              f"{len(got)} of {len(text)} bytes")
        check("everything is counted", server.until(lambda: counted("waste").get("events") == LINES)
              and counted("in")["frames"] == LINES and counted("in")["bytes"] == len(text)
              and counted("out")["events"] == LINES and counted("spread")["lost"] == 0,
              [counted(name) for name in ("in", "spread", "out", "waste")])
        check("it drains and ends well", running.stop(signal.SIGTERM) == 0, running.said())


with tap.plan() as plan:
    with server.folder():
        relay(plan)
    done = subprocess.run([sys.executable, ROOT / "tools/option_tables.py", "--check", server.WEIR],
                          capture_output=True, text=True, check=False)
    plan("the guide's tables of options are what the command knows", done.returncode == 0,
         done.stderr)
