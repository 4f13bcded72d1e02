# SPDX-License-Identifier: Apache-2.0
"""Admin over HTTP where strangers come: every path with the token, without one and with a wrong one,
beside a server for this machine alone. The files of the live page say nothing of the server, and are
for all; everything else needs the token."""
import json

import tap
from admin_support import TOKEN, Server, until

BEARER, WRONG = f"Bearer {TOKEN}", f"Bearer {TOKEN[:-1]}x"
NAME = "front.example"
RUN = json.dumps({"words": ["threads"]}).encode()
LEVEL = json.dumps({"words": ["log", "level", "info"]}).encode()
REASON = "missing or wrong token"

FILES = ["/", "/assets/main.js", "/assets/style.css", "/assets/icon.svg", "/assets/token.js",
         "/assets/uPlot.iife.min.js"]
SAYS = ["/metrics", "/metrics.json", "/health", "/advice.json", "/api/v1/threads",
        "/api/v1/commands", "/api/v1/config/show", "/api/v1/processors/list", "/api/v1/nothing"]


def split(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    return head.decode("latin-1").lower(), body


def stable(head):
    """What a server says of an answer, but for the time."""
    return sorted(line for line in head.split("\r\n") if not line.startswith("date:"))


def check_files(check, remote, local):
    for path in FILES:
        here = local.http("GET", path)[1]
        for given in (None, WRONG, BEARER, "Basic eDp4", ""):
            status, answer = remote.http("GET", path, Host=NAME, Authorization=given)
            check(f"{path} is for all, the same for all ({given})", status == 200 and
                  split(answer)[1] == split(here)[1] and
                  stable(split(answer)[0]) == stable(split(here)[0]), answer[:500])
        status, answer = remote.http("HEAD", path, Host=NAME)
        check(f"so is its head: {path}", status == 200 and split(answer)[1] == b"", answer[:500])
        tag = next(line for line in split(here)[0].split("\r\n") if line.startswith("etag: "))
        status, answer = remote.http("GET", path, Host=NAME, If_None_Match=tag[6:])
        check(f"and that it is still the same: {path}", status == 304, answer[:500])
        status, answer = remote.http("GET", path, Host="evil.example")
        check(f"but not by another name: {path}", status == 421, answer)
        status, answer = remote.http("POST", path, b"{}", Host=NAME)
        check(f"nor to be changed: {path}", status == 405, answer)
        status, answer = remote.http("GET", path, b"x", Host=NAME)
        check(f"nor with a body: {path}", status == 413, answer)
        status, answer = remote.http("GET", path, Host=NAME, Sec_Fetch_Site="cross-site",
                                     Sec_Fetch_Mode="no-cors")
        check(f"nor for pages of other sites: {path}", status == 403, answer)


def check_says(check, remote, local):
    for path in SAYS:
        there = 404 if path.endswith("nothing") else 200
        check(f"on this machine alone {path} needs no token",
              local.http("GET", path)[0] == there)
        for given in (None, WRONG, "Basic eDp4", "", f"Bearer {TOKEN}x", f"bearer  {TOKEN[1:]}"):
            before = remote.refused().get(REASON, 0)
            status, answer = remote.http("GET", path, Host=NAME, Authorization=given)
            head, body = split(answer)
            check(f"{path} with {given!r} for a token is 401, says nothing, counted",
                  status == 401 and "www-authenticate: bearer" in head and len(body) < 200 and
                  b"rows\": []" in body and remote.refused()[REASON] == before + 1, answer)
        check(f"{path} with the token is there", remote.http(
            "GET", path, Host=NAME, Authorization=BEARER)[0] == there)
    for path in SAYS[:4] + ["/events"]:
        check(f"the head of {path} needs it, too", remote.http("HEAD", path, Host=NAME)[0] == 401 and
              remote.http("HEAD", path, Host=NAME, Authorization=BEARER)[0] == 200)


def check_run(check, remote, local):
    for body, what in ((RUN, "looks"), (LEVEL, "changes")):
        check(f"on this machine a command that {what} needs {'no' if body == RUN else 'the'} token",
              local.http("POST", "/api/v1/run", body)[0] == (200 if body == RUN else 401))
        for given in (None, WRONG):
            check(f"one that {what} is 401 with {given}", remote.http(
                "POST", "/api/v1/run", body, Host=NAME, Authorization=given)[0] == 401)
        check(f"one that {what} is run with the token", remote.http(
            "POST", "/api/v1/run", body, Host=NAME, Authorization=BEARER)[0] == 200)
    status, answer = remote.http("POST", "/api/v1/run", b"x" * 9, Host=NAME, Content_Type="x/y")
    check("a stranger learns nothing of what a body should be", status == 401, answer)


def check_events(check, remote):
    """The stream begins for who has the token, and takes no place for who has not."""
    for given in (None, WRONG):
        status, answer = remote.http("GET", "/events", Host=NAME, Authorization=given)
        check(f"/events with {given} is 401, and over", status == 401 and
              b"event:" not in answer, answer)
    check("nobody has a place for that", remote.ask("admin")["rows"][1]["streams"] == 0)
    head = f"GET /events HTTP/1.1\r\nHost: {NAME}\r\nAuthorization: {BEARER}\r\n\r\n"
    seen = []

    def heard():
        with remote.connect() as s:
            s.sendall(head.encode())
            answer = b""
            while b"event: figures" not in answer and (piece := s.recv(1 << 16)):
                answer += piece
            seen.append(answer[:300])
            return b"event: figures" in answer
    check("/events with the token tells figures", heard(), seen)
    check("and its place is free again",
          until(lambda: remote.ask("admin")["rows"][1]["streams"] == 0))


def main():
    with tap.plan() as check:
        # By a proxy on the same machine it is loopback, and strangers come all the same.
        for address in ("0.0.0.0", "127.0.0.1"):
            with Server(http__port=0, http__token=TOKEN, http__address=address,
                        http__allow_remote=True, http__hosts=[NAME]) as remote, \
                    Server(http__port=0, http__token=TOKEN) as local:
                remote.url = f"http://127.0.0.1:{remote.address[1]}"
                check(f"others reach {address}", True)
                check_files(check, remote, local)
                check_says(check, remote, local)
                check_run(check, remote, local)
                check_events(check, remote)
            check("it ends as it should", remote.process.returncode == 0)
        server = Server(http__port=0, http__allow_remote=True)
        check("allow-remote without a token is refused on loopback, too", server.close() == 1 and
              "allow-remote" in server.said and "token-file" in server.said, server.said)


main()
