# SPDX-License-Identifier: Apache-2.0
"""Admin over HTTP: who is let in, what is refused, and that it is counted. Raw sockets, because the
clients that matter here are not polite."""
import gzip
import json
import os
import resource
import socket
import stat
import tempfile
import threading
import time

import admin_support
import tap
from admin_support import TOKEN, Server, status_of, until

BEARER = f"Bearer {TOKEN}"
LEVEL = json.dumps({"words": ["log", "level", "info"]}).encode()


def counted(server, reason, act):
    """What `act` answers, and by how much the count of that reason grew."""
    before = server.refused().get(reason, 0)
    answer = act()
    until(lambda: server.refused().get(reason, 0) > before, 5)
    return answer, server.refused().get(reason, 0) - before


def check_reading(check, server):
    status, answer = server.http("GET", "/api/v1/commands")
    body = json.loads(answer.split(b"\r\n\r\n", 1)[1])
    check("GET /api/v1/commands lists them", status == 200 and
          any(row["command"] == "threads" for row in body["rows"]), answer)
    for header in (b"Content-Type: application/json", b"Cache-Control: no-store",
                   b"X-Content-Type-Options: nosniff", b"Connection: close"):
        check(f"answers say {header.decode()}", header in answer, answer)
    for path in ("threads", "processors/list", "dispatchers", "flows", "flows/orders", "timers",
                 "latency/status", "dead-letters", "log/level", "config/show", "admin", "help",
                 "help/log"):
        status, answer = server.http("GET", f"/api/v1/{path}")
        check(f"GET of {path} answers", status == 200 and b'"WEIR_OK"' in answer, answer)
    status, answer = server.http("GET", "/api/v1/theads")
    check("an unknown command is 404, with the nearest name", status == 404 and
          b"did you mean 'threads'" in answer, answer)
    status, answer = server.http("POST", "/api/v1/run", b'{"words": ["threads"]}')
    check("POST runs what only looks without a token", status == 200, answer)
    status, answer = server.http("POST", "/api/v1/run", b'{"words": ["flows", "nobody"]}')
    check("what a command does not find is 404", status == 404, answer)
    status, answer = server.http("POST", "/api/v1/run", b'{"words": ["threads", "x"]}')
    check("wrong arguments are 400", status == 400, answer)


def check_token(check, server):
    for given in (None, "Bearer wrong", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x",
                  f"Bearer {TOKEN[:-1]}", "Bearer ", "Bearer", f"Bearer {TOKEN} {TOKEN}"):
        (status, answer), grew = counted(
            server, "missing or wrong token",
            lambda: server.http("POST", "/api/v1/run", LEVEL, Authorization=given))
        check(f"a change with {'no token' if given is None else repr(given[:12])} is 401, counted",
              status == 401 and grew == 1 and b"WWW-Authenticate: Bearer" in answer, answer)
    check("and nothing has changed", server.ask("log", "level")["rows"] == [{"level": "warning"}])
    status, answer = server.http("POST", "/api/v1/run", LEVEL, Authorization=BEARER)
    check("a change with the token goes through", status == 200 and
          server.ask("log", "level")["rows"] == [{"level": "info"}], answer)
    status, answer = server.http("POST", "/api/v1/run", b'{"words": ["book", "reset", "X"]}',
                                 Authorization=BEARER)
    check("so does one in a turn of a processor", status == 200 and b'"in-turn": true' in answer,
          answer)
    (status, answer), grew = counted(
        server, "wrong method",
        lambda: server.http("GET", "/api/v1/latency/reset", Authorization=BEARER))
    check("a change by GET is 405, counted, with the token, too", status == 405 and grew == 1 and
          b"Allow: POST" in answer, answer)
    everything = json.dumps([server.ask(*words) for words in
                             (["config", "show"], ["admin"], ["commands"])])
    check("no answer shows the token", TOKEN not in everything and '"***"' in everything,
          everything)


def check_host(check, server):
    port = server.address[1]
    for host in (None, "", "evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port}x",
                 f"127.0.0.1:{port + 1}", f"localhost:{port}.evil.example", f"127.0.0.1:{port},x"):
        def act(host=host):
            return server.http("GET", "/api/v1/threads", Host=host)
        if host is None:  # HTTP/1.1 without one is wrong to the library itself
            (status, answer), grew = act(), 1
        else:
            (status, answer), grew = counted(server, "wrong host", act)
        check(f"Host {host!r} is refused, counted", status in (400, 421) and grew == 1, answer)
    answer = server.raw(f"GET /api/v1/threads HTTP/1.1\r\nHost: {server.host}\r\n"
                        "Host: evil.example\r\n\r\n".encode())
    check("two Host headers are refused", status_of(answer) == 400, answer)
    for host in (f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}", server.host):
        status, answer = server.http("GET", "/api/v1/threads", Host=host)
        check(f"Host {host} is let in", status == 200, answer)


def check_origin(check, server):
    port = server.address[1]
    for origin in ("http://evil.example", "null", f"https://{server.host}", "", "http://",
                   f"http://{server.host}.evil.example", f"http://localhost:{port + 1}"):
        (status, answer), grew = counted(
            server, "foreign origin",
            lambda: server.http("POST", "/api/v1/run", LEVEL, Origin=origin, Authorization=BEARER))
        check(f"Origin {origin!r} is 403, counted, with the token, too",
              status == 403 and grew == 1, answer)
    status, answer = server.http("GET", "/api/v1/threads", Origin=f"http://localhost:{port}")
    check("the own origin is let in", status == 200, answer)
    check("no answer invites other sites", b"Access-Control" not in answer, answer)
    status, answer = server.http("OPTIONS", "/api/v1/run", Origin="http://evil.example")
    check("a preflight is refused", status == 403, answer)


def check_paths(check, server):
    tricks = ["/index.html", "/assets/", "/assets", "/assets/../index.html", "/metrics/",
              "/assets/%2e%2e/x", "/Metrics", "/api", "/api/v1", "/api/v1/", "/api/v1//threads", "/api/v1/threads/",
              "/api/v1/../threads", "/../../etc/passwd", "/api/v1/%74hreads", "/api/v1/%2e%2e/x",
              "/api/v1/threads%00", "/api/v1/threads%0d%0aX:y", "/api/v1/..;/threads",
              "/API/v1/threads", "//api/v1/threads", "/api/v1/threads\\..", "/api/v1/./threads",
              "/api/v1/" + "a" * 600, "*", "/api/v1/th\xe9"]
    for path in tricks:
        (status, answer), grew = counted(server, "no such path",
                                         lambda: server.http("GET", path))
        check(f"the path {path[:24]!r} is 404, counted", status == 404 and grew == 1, answer)
    absolute = f"http://{server.host}/api/v1/threads"
    status, answer = server.http("GET", absolute)
    check("a whole URL as a path is none of ours", status in (400, 404), answer)
    status, answer = server.http("GET", "/api/v1/" + "a" * 100_000)
    check("a path of 100,000 bytes is refused", status in (0, 400, 404, 413, 414, 431), answer[:99])
    answer = server.raw(b"GET /api/v1/threads\0/../x HTTP/1.1\r\nHost: " + server.host.encode() +
                        b"\r\n\r\n")
    check("a zero byte in a path leads to nothing but a reading command or a refusal",
          status_of(answer) in (0, 200, 400, 404), answer)
    status, answer = server.http("GET", "/api/v1/" + "a/" * 200 + "a")
    check("a path of 201 words is 404", status == 404, answer)
    for method in ("PUT", "DELETE", "HEAD", "TRACE", "CONNECT", "PATCH", "get", "X" * 40):
        status, answer = server.http(method, "/api/v1/threads")
        check(f"{method[:8]} is refused", status in (0, 400, 404, 405, 501), answer)


def check_bodies(check, server):
    for body in (b"", b"{", b"[]", b"{}", b'{"words": []}', b'{"words": "threads"}',
                 b'{"words": [1]}', b'{"words": ["threads"]} x', b'{"words":["a\\u0000b"]}',
                 b'{"words": ["threads"], "words": ["x"]}', b'{"words": ["threads"], "x": 1}',
                 b'{"words": ["\xff"]}', b'{"words":' + b"[" * 3000, json.dumps(
                     {"words": ["a"] * 65}).encode()):
        (status, answer), grew = counted(server, "body that is no request",
                                         lambda: server.http("POST", "/api/v1/run", body))
        check(f"the body {body[:30]!r} is 400, counted", status == 400 and grew == 1, answer)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""):
        status, answer = server.http("POST", "/api/v1/run", LEVEL, Content_Type=kind,
                                     Authorization=BEARER)
        check(f"a body of type {kind!r} is 415", status == 415, answer)

    def gigabyte():
        """A GB is announced, and sent until it is refused."""
        with socket.create_connection(server.address, timeout=20) as s:
            s.sendall(f"POST /api/v1/run HTTP/1.1\r\nHost: {server.host}\r\n"
                      "Content-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n"
                      .encode())
            sent = 0
            try:
                while sent < 1 << 30:
                    sent += s.send(b"x" * 65536)
            except OSError:
                pass
            return sent, admin_support.receive(s, None)
    (sent, answer), grew = counted(server, "body too large, or its length unsaid", gigabyte)
    check("a body of 1 GB is refused before it is read, counted", grew == 1 and sent < 64 << 20 and
          status_of(answer) in (0, 413), f"{sent} {answer}")
    (status, answer), grew = counted(
        server, "body too large, or its length unsaid",
        lambda: server.http("POST", "/api/v1/run", b"x", Content_Length="65537"))
    check("so is one of a byte too many", status == 413 and grew == 1, answer)
    for field, value in (("Transfer_Encoding", "chunked"), ("Content_Length", None)):
        status, answer = server.http("POST", "/api/v1/run", b"0\r\n\r\n", **{
            "Content_Length": None, field: value})
        check(f"a body without a length ({field} {value}) is refused", status in (400, 411),
              answer)
    for length in ("-1", "0x10", "1e3", "99999999999999999999999", "5, 5", "+5"):
        status, answer = server.http("POST", "/api/v1/run", b"{}", Content_Length=length)
        check(f"Content-Length {length} is refused", status in (0, 400, 413), answer)
    status, answer = server.http("GET", "/api/v1/threads", b"x")
    check("a GET with a body is refused", status == 413, answer)


def check_malformed(check, server):
    for data in (b"\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64,
                 b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\0" * 4096,
                 b"GET /api/v1/threads HTTP/1.1\r\n" + b"A: b\r\n" * 20_000 + b"\r\n",
                 b"GET /api/v1/threads HTTP/1.1\r\nA: " + b"b" * 100_000 + b"\r\n\r\n"):
        def act(data=data):
            with socket.create_connection(server.address, timeout=20) as s:
                try:
                    s.sendall(data)
                    s.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
                return admin_support.receive(s, None)
        answer, grew = counted(server, "not HTTP, too long, or cut off", act)
        check(f"{data[:16]!r}, {len(data)} bytes, is refused, counted",
              status_of(answer) != 200 and grew == 1, answer[:200])
    whole = (f"POST /api/v1/run HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: {BEARER}\r\n"
             f"Content-Type: application/json\r\nContent-Length: {len(LEVEL)}\r\n\r\n"
             ).encode() + LEVEL
    before = server.ask("admin")["rows"][1]["requests"]
    for cut in range(0, len(whole), 7):
        with socket.create_connection(server.address, timeout=20) as s:
            s.sendall(whole[:cut])
            s.shutdown(socket.SHUT_WR)
            admin_support.receive(s, None)
    check("a request that is cut off at any byte reaches no command",
          server.ask("admin")["rows"][1]["requests"] == before)
    answer = server.raw(whole + whole)
    check("of two requests in a row the first is answered, then it is over",
          answer.count(b"HTTP/1.1 ") == 1 and status_of(answer) == 200, answer)
    with socket.create_connection(server.address, timeout=20) as s:
        for byte in whole:
            s.sendall(bytes([byte]))
        check("a request that comes byte by byte is answered",
              status_of(admin_support.receive(s, None)) == 200)


def check_limits(check):
    with Server(http__port=0, http__timeout="400ms", http__connections_max=6,
                http__connections_per_address_max=4) as server:
        before = server.refused().get("too many connections of one address", 0)
        held = [socket.create_connection(server.address, timeout=20) for _ in range(4)]
        until(lambda: server.ask("admin")["rows"][1]["open"] == 4)
        answer = server.raw(b"")
        check("one connection too many of an address is closed at once, counted", answer == b"" and
              until(lambda: server.refused().get("too many connections of one address", 0) ==
                    before + 1), server.refused())
        stop = threading.Event()

        def trickle(s):
            try:
                s.sendall(b"GET /api/v1/threads HTTP/1.1\r\n")
                while not stop.wait(0.02):
                    s.sendall(b"A")
            except OSError:
                pass
        threads = [threading.Thread(target=trickle, args=(s,)) for s in held]
        for thread in threads:
            thread.start()
        check("clients that trickle are ended when their time is over, counted",
              until(lambda: server.refused().get("not complete in time", 0) >= 4),
              server.refused())
        check("and their places are free again",
              until(lambda: server.ask("admin")["rows"][1]["open"] == 0) and
              server.http("GET", "/api/v1/threads")[0] == 200)
        stop.set()
        for thread in threads:
            thread.join()
        for s in held:
            s.close()
        with socket.create_connection(server.address, timeout=20) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.sendall(f"GET /api/v1/large HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
            check("a client that does not take its answer is ended, too",
                  until(lambda: server.refused().get("not complete in time", 0) >= 5) and
                  until(lambda: server.ask("admin")["rows"][1]["open"] == 0), server.refused())


PAGES = {"/": "text/html; charset=utf-8", "/metrics": "text/plain; version=0.0.4; charset=utf-8",
         "/metrics.json": "application/json", "/health": "application/json",
         "/advice.json": "application/json", "/assets/uPlot.min.css": "text/css; charset=utf-8",
         "/assets/uPlot.iife.min.js": "text/javascript; charset=utf-8"}


def head_and_body(answer):
    """The headers by their name in small letters, and what stands behind them."""
    head, _, body = answer.partition(b"\r\n\r\n")
    fields = (line.partition(": ") for line in head.decode("latin-1").split("\r\n")[1:])
    return {name.lower(): value for name, _, value in fields}, body


def check_pages(check, server):
    for path, kind in PAGES.items():
        status, answer = server.http("GET", path)
        fields, body = head_and_body(answer)
        check(f"GET of {path} answers, as {kind.partition(';')[0]}", status == 200 and
              fields["content-type"] == kind and int(fields["content-length"]) == len(body) > 0,
              answer[:999])
        check(f"{path} may not be framed, sniffed, or shown by other sites", "frame-ancestors 'none'"
              in fields["content-security-policy"] and fields["x-content-type-options"] == "nosniff"
              and fields["cross-origin-resource-policy"] == "same-origin"
              and fields["referrer-policy"] == "no-referrer", fields)
        status, answer = server.http("HEAD", path)
        check(f"HEAD of {path} has no body", status == 200 and head_and_body(answer)[1] == b"",
              answer[:999])
        status, answer = server.http("POST", path, b"{}")
        check(f"POST to {path} is 405", status == 405 and b"Allow: GET, HEAD" in answer, answer)
        (status, answer), grew = counted(server, "wrong host",
                                         lambda: server.http("GET", path, Host="evil.example"))
        check(f"{path} by another host is 421, counted", status == 421 and grew == 1, answer)
    for path in ("/metrics.json", "/health", "/advice.json"):
        document = json.loads(head_and_body(server.http("GET", path)[1])[1])
        check(f"{path} is a JSON object", isinstance(document, dict), document)
    health = json.loads(head_and_body(server.http("GET", "/health")[1])[1])
    check("health says how it is, and why", health["status"] in ("up", "degraded") and
          isinstance(health["reasons"], list), health)
    status, answer = server.http("GET", "/metrics.jsn")
    check("an unknown path is 404, with the nearest name", status == 404 and
          b"did you mean /metrics.json?" in answer, answer)
    status, answer = server.http("GET", "/something/else/altogether")
    check("or with all of them", status == 404 and b"/advice.json" in answer, answer)


def check_cache(check, server):
    path = "/assets/uPlot.min.css"
    fields, body = head_and_body(server.http("GET", path)[1])
    tag = fields["etag"]
    check("a file has a strong tag, and is asked for again each time", tag[0] == tag[-1] == '"' and
          fields["cache-control"] == "no-cache", fields)
    for given in (tag, f'"x", {tag}', f"W/{tag}", "*", f'"x",{tag},"y"'):
        status, answer = server.http("GET", path, If_None_Match=given)
        fields, rest = head_and_body(answer)
        check(f"who has it already ({given}) is told so", status == 304 and rest == b"" and
              fields["etag"] == tag, answer)
    for given in ("", '"x"', tag[:-1], tag[1:], tag + "x", ",,,"):
        status, answer = server.http("GET", path, If_None_Match=given)
        check(f"who has another one ({given}) gets it", status == 200 and
              head_and_body(answer)[1] == body, answer[:300])
    page = server.http("GET", "/assets/uPlot.iife.min.js")[1]
    plain = head_and_body(page)[1]
    small = len(plain) > 1000  # not the placeholder
    for accepts, packed in (("gzip", small), ("deflate, gzip;q=0.5, br", small), ("GZIP", small),
                            ("gzip;q=0", False), ("gzip; q=0.000", False), ("br", False),
                            ("", False), ("xgzip", False), ("gzipx, br", False), (",,;", False)):
        fields, body = head_and_body(server.http("GET", "/assets/uPlot.iife.min.js",
                                                 Accept_Encoding=accepts)[1])
        told = fields.get("content-encoding") == "gzip"
        check(f"Accept-Encoding {accepts!r} gets {'gzip' if packed else 'it as it is'}",
              told == packed and (gzip.decompress(body) if told else body) == plain and
              (fields["etag"].endswith('-gz"')) == packed, fields)


def check_elsewhere(check, server):
    for path in ("/", "/metrics.json", "/events", "/api/v1/threads"):
        (status, answer), grew = counted(
            server, "foreign origin", lambda: server.http(
                "HEAD" if path == "/events" else "GET", path, Sec_Fetch_Site="cross-site",
                Sec_Fetch_Mode="no-cors"))
        check(f"a picture of {path} in a page of another site is 403, counted",
              status == 403 and grew == 1, answer)
    status, answer = server.http("GET", "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate")
    check("a link that leads to the page does", status == 200, answer)
    status, answer = server.http("GET", "/metrics.json", Sec_Fetch_Site="same-origin",
                                 Sec_Fetch_Mode="cors")
    check("so does what the page itself asks for", status == 200, answer)


class Stream:
    """A client of /events that has sent its request."""

    def __init__(self, server, address="127.0.0.1", receive_bytes=None, **headers):
        self.socket = socket.socket()
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.bind((address, 0))
        self.socket.settimeout(20)
        self.socket.connect(server.address)
        fields = {"Host": server.host, **headers}
        self.socket.sendall(("GET /events HTTP/1.1\r\n" + "".join(
            f"{key.replace('_', '-')}: {value}\r\n" for key, value in fields.items()) + "\r\n")
            .encode())
        self.seen = b""

    def read(self, done, seconds=20):
        """Reads until `done` says so of what it has seen. False: it ended, or took too long."""
        end = time.monotonic() + seconds
        while not done(self.seen):
            if time.monotonic() > end:
                return False
            try:
                piece = self.socket.recv(1 << 20)
            except OSError:
                return False
            if not piece:
                return False
            self.seen += piece
        return True

    def frames(self):
        """The events that are there whole, each as its fields."""
        body = head_and_body(self.seen)[1].decode()
        return [dict(line.partition(": ")[::2] for line in block.split("\n"))
                for block in body.split("\n\n")[:-1]]

    def close(self):
        self.socket.close()


def row_of(server):
    return server.ask("admin")["rows"][1]


def check_stream(check, server):
    stream = Stream(server)
    began = time.monotonic()
    check("a stream of events begins", stream.read(lambda seen: seen.count(b"event: figures") >= 9
                                                   and seen.endswith(b"\n\n")), stream.seen[:300])
    seconds = time.monotonic() - began
    fields, _ = head_and_body(stream.seen)
    check("as what it is, to be kept by nobody", fields["content-type"] == "text/event-stream" and
          fields["cache-control"] == "no-store" and "content-length" not in fields, fields)
    frames = stream.frames()
    check("it says when to come again", frames[0] == {"retry": "1000"}, frames[0])
    figures = [f for f in frames if f.get("event") == "figures"]
    check("its figures are JSON, a line each, and come four times a second",
          all(isinstance(json.loads(f["data"]), dict) for f in figures) and 1.7 < seconds < 6,
          f"{seconds} {figures[:1]}")
    numbers = [int(f["id"]) for f in figures]
    check("each has a number, one after the other",
          numbers == list(range(numbers[0], numbers[0] + len(numbers))), numbers)
    advice = [f for f in frames if f.get("event") == "advice"]
    check("and advice comes every two seconds", 1 <= len(advice) <= 2 and
          isinstance(json.loads(advice[0]["data"])["findings"], list), advice)
    check("a stream is counted as one", row_of(server)["streams"] == 1, row_of(server))
    stream.close()
    check("and when its client has gone it is no more",
          until(lambda: row_of(server)["streams"] == 0 and row_of(server)["open"] == 0),
          row_of(server))
    status, answer = server.http("HEAD", "/events")
    check("HEAD of the stream ends at once", status == 200 and b"text/event-stream" in answer,
          answer)


def check_stream_limits(check):
    with Server(http__port=0, http__timeout="1s", http__stream_clients_max=3,
                http__connections_per_address_max=1, http__connections_max=2) as server:
        streams = [Stream(server)]
        for _ in range(2):
            streams[-1].read(lambda seen: b"retry" in seen)
            streams.append(Stream(server))
        check("streams are no connections of an address: several fit beside its bound",
              all(s.read(lambda seen: b"event: figures" in seen) for s in streams))
        (status, answer), grew = counted(server, "too many event streams",
                                         lambda: server.http("GET", "/events"))
        check("one too many is 503, counted", status == 503 and grew == 1, answer)
        check("others are answered meanwhile", server.http("GET", "/health")[0] == 200)
        other = Stream(server, address="127.0.0.2")
        check("an address that holds none gets the place of one that holds several",
              other.read(lambda seen: b"event: figures" in seen) and
              until(lambda: row_of(server)["streams"] == 3), row_of(server))
        check("which has its newest ended", not streams[2].read(lambda seen: False, 3))
        seen = [len(s.seen) for s in streams[:2]]
        check("streams outlive the time that a request has",
              all(s.read(lambda bytes_, n=n: bytes_[n:].count(b"event: figures") >= 8)
                  for s, n in zip(streams[:2], seen)))
        for s in streams + [other]:
            s.close()
        check("all places are free again", until(lambda: row_of(server)["streams"] == 0),
              row_of(server))
        before = server.refused().get("not complete in time", 0)
        check("figures of many processors fill a frame", server.tell("crowd") == "WEIR_OK")
        deaf = Stream(server, receive_bytes=2048)
        until(lambda: row_of(server)["streams"] == 1)
        ear = Stream(server)
        check("a client that does not read is let go in the end, counted",
              ear.read(lambda _: server.refused().get("not complete in time", 0) > before),
              server.refused())
        numbers = [int(f["id"]) for f in ear.frames() if f.get("event") == "figures"]
        check("while others hear every frame", len(numbers) >= 4 and
              numbers == list(range(numbers[0], numbers[0] + len(numbers))), numbers)
        shown = json.loads([f for f in ear.frames() if f.get("event") == "figures"][-1]["data"])
        check("with the busiest hundred processors and no more",
              len(shown["processors"]) <= 101 and shown["processors_total"] > 200,
              (len(shown["processors"]), shown["processors_total"]))
        check("what the deaf one has not taken is not kept", row_of(server)["streams"] == 1,
              row_of(server))
        deaf.close()
        ear.close()
    check("a server with streams ends as it should", server.process.returncode == 0)
    with Server(http__port=0, http__stream_clients_max=5) as server:
        streams = [Stream(server) for _ in range(5)]
        streams = [s for s in streams if s.read(lambda seen: b"retry" in seen)]
    check("so does one whose streams are open", server.process.returncode == 0 and
          len(streams) == 5)
    for s in streams:
        s.close()


def check_many(check):
    """Many slow clients: at night as many as this process may have, up to 10,000. Those over the
    bounds are parked."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 10_200), hard))
    count = min(int(os.environ.get("WEIR_ADMIN_CLIENTS", "2000")), min(hard, 10_200) - 100)
    with Server(http__port=0, http__timeout="2s") as server:
        clients = []
        for _ in range(count):
            s = socket.create_connection(server.address, timeout=20)
            try:
                s.send(b"GET /api/v1/threads HTTP/1.1\r\n")
            except OSError:
                pass  # it is refused already
            clients.append(s)

        def settled():
            row = server.ask("admin")["rows"][1]
            return row["connections"] >= count
        check(f"{count:,} slow clients are taken or refused, each counted",
              until(settled, 60), server.ask("admin"))
        row = server.ask("admin")["rows"][1]
        check("no more are open than the bound allows", row["open"] <= 64, row)
        check("others are parked", row["parked"] >= min(100, count // 8), row)
        check("the socket answers meanwhile", server.ask("threads")["status"] == "WEIR_OK")
        for s in clients:
            s.close()
        check("who has gone is not kept", until(lambda: row_of(server)["parked"] == 0),
              row_of(server))
        check("and when they are gone, HTTP does, too",
              until(lambda: server.http("GET", "/api/v1/threads")[0] == 200))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def check_start(check):
    folder = tempfile.mkdtemp(prefix="weir-admin-")
    token = os.path.join(folder, "token")
    with open(token, "w", encoding="utf-8") as out:
        out.write(TOKEN + "\n")

    def refused(sentence, words, **keys):
        server = Server(http__port=0, **keys)
        status = server.close()
        check(sentence, status == 1 and all(word in server.said for word in words) and
              TOKEN not in server.said and not os.path.exists(server.socket or "/nowhere"),
              server.said)
    refused("an address of others needs more than that", ["allow-remote"], http__address="0.0.0.0")
    refused("a token alone is not enough", ["allow-remote"], http__address="0.0.0.0",
            http__token=TOKEN)
    refused("nor is the switch alone", ["token"], http__address="::", http__allow_remote=True)
    refused("a name is no address", ["numbers"], http__address="localhost")
    refused("a short token is refused", ["visible characters"], http__token="short")
    refused("a token with a blank is refused", ["visible characters"], http__token="x" * 20 + " x")
    os.chmod(token, 0o640)
    refused("a token file that others may read is refused", ["0600", "0640"],
            http__token_file=token)
    refused("a token file that is not there is refused", ["cannot read"],
            http__token_file=token + "x")
    refused("a folder is no token file", ["regular file"], http__token_file=folder)
    refused("a port in use is refused", ["cannot listen"], http__address="127.0.0.1",
            **{"http__port": 1}) if os.geteuid() != 0 else None
    os.chmod(token, stat.S_IRUSR | stat.S_IWUSR)
    with Server(http__port=0, http__token_file=token, http__address="0.0.0.0",
                http__allow_remote=True, http__hosts=["front.example"]) as server:
        port = server.address[1]
        server.url = f"http://127.0.0.1:{port}"
        status, answer = server.http("GET", "/api/v1/threads", Host="front.example")
        check("where strangers come nothing goes without the token", status == 401, answer)
        status, answer = server.http("GET", "/api/v1/threads", Host="front.example",
                                     Authorization=BEARER)
        check("and with it, by a host that was named, it does", status == 200, answer)
        status, answer = server.http("GET", "/api/v1/threads", Host=f"localhost:{port}",
                                     Authorization=BEARER)
        check("localhost is no name of that one", status == 421, answer)
    with Server(http__port=0) as server:
        status, answer = server.http("POST", "/api/v1/run", LEVEL, Authorization=BEARER)
        check("without a token configured nothing can be changed", status == 403, answer)
        status, answer = server.http("POST", "/api/v1/run", LEVEL, Authorization="Bearer ")
        check("not by an empty one either", status == 403, answer)
    os.unlink(token)
    os.rmdir(folder)


with tap.plan() as check:
    with Server(http__port=0, http__token=TOKEN) as one:
        check_reading(check, one)
        check_token(check, one)
        check_host(check, one)
        check_origin(check, one)
        check_pages(check, one)
        check_cache(check, one)
        check_elsewhere(check, one)
        check_stream(check, one)
        check_paths(check, one)
        check_bodies(check, one)
        check_malformed(check, one)
        check("after all that it still answers", one.http("GET", "/api/v1/threads")[0] == 200)
    check("it ends as it should", one.process.returncode == 0)
    check_limits(check)
    check_stream_limits(check)
    check_many(check)
    check_start(check)
