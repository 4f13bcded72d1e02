# SPDX-License-Identifier: Apache-2.0
"""`weir admin` and the Unix socket behind it: who may come, what is refused, what people see."""
import json
import os
import re
import socket
import stat
import subprocess
import tempfile

import tap
from admin_support import TOKEN, WEIR, Server, receive, until

READING = ["commands", "components", "config show", "dead-letters", "dispatchers", "errors",
           "feeds", "flows", "health", "help", "latency status", "log level", "processors list",
           "services", "threads", "timers", "admin"]


def weir(*arguments, **variables):
    environment = {k: v for k, v in os.environ.items() if k not in ("WEIR_ADMIN_SOCKET",
                                                                     "WEIR_ADMIN_TOKEN")}
    done = subprocess.run([WEIR, "admin", *arguments], capture_output=True, text=True, check=False,
                          timeout=tap.TIMEOUT_S, env={**environment, **variables})
    return done.returncode, done.stdout, done.stderr


def check_command(check, server):
    for words in READING:
        status, out, err = server.admin(*words.split())
        check(f"weir admin {words} answers", status == 0 and not err, out + err)
        status, out, _ = server.admin("--json", *words.split())
        check(f"and as JSON", status == 0 and json.loads(out)["command"] == words, out)
    status, out, _ = server.admin("processors", "list")
    lines = out.splitlines()
    check("several rows are a table with a head", lines[0].split()[:3] ==
          ["processor", "dispatcher", "depth"] and
          any(line.startswith("book") for line in lines), out)
    status, out, _ = server.admin("log", "level")
    check("one row is a list of keys", out == "level: warning\n", out)
    status, out, _ = server.admin("book", "reset", "ACME")
    check("a command of a processor runs in its turn", status == 0 and "in-turn: true" in out, out)
    status, out, err = server.admin("theads")
    check("an unknown command is wrong usage, with the nearest name", status == 2 and
          "did you mean 'threads'?" in err and not out, err)
    status, out, err = server.admin("threads", "x")
    check("a wrong argument is wrong usage", status == 2 and "takes 0 arguments" in err, err)
    status, out, err = server.admin("flows", "nobody")
    check("a command that fails is a failure", status == 1 and "no router" in err, err)
    status, out, err = server.admin("hostile")
    check("what would steer the terminal is not shown", status == 0 and "\x1b" not in out, out)
    status, out, err = server.admin("--json", "large")
    check("an answer of 16 MB comes through, and says that it was cut", status == 0 and
          json.loads(out)["cut"] is True and len(out) > 15 << 20, err)
    status, out, err = server.admin("large")
    check("as a table, too", status == 0 and "cut off" in err, err)


def check_page(check, server):
    """The table of docs/guide/admin.md is what `commands` says."""
    rows = []
    for row in server.ask("commands")["rows"]:
        if row["command"] not in ("book reset", "hostile", "large"):  # of the test's own
            name = f"{row['command']} {row['arguments']}".strip().replace("|", "\\|")
            rows.append(f"| `{name}` | {'yes' if row['changes'] else ''} | {row['help']} |")
    page = (tap.ROOT / "docs/guide/admin.md").read_text(encoding="utf-8").splitlines()
    table = [line for line in page if line.startswith("| `") and not line.startswith("| `/")]
    check("docs/guide/admin.md has every command, as it says itself", table == rows,
          "\n".join(sorted(set(table) ^ set(rows))))


def check_change(check, server):
    status, out, err = server.admin("processors", "restart", "spare")
    check("a processor is restarted", status == 0 and re.search(r"restarted: +true", out) and
          re.search(r"restarts: +1", out), out + err)
    status, out, err = server.admin("processors", "restart", "spar")
    check("one that is not there is not, with the nearest name", status == 1 and
          "did you mean 'spare'?" in err, err)
    status, out, err = server.admin("processors", "move", "spare", "")
    check("a processor that is there is not moved", status == 0 and
          re.search(r"moved: +false", out), out + err)
    status, out, err = server.admin("processors", "move", "spare", "nowhere")
    check("nor to where no thread is", status == 1 and "which no thread serves; valid:" in err, err)


def check_ways(check, server):
    name = os.path.basename(server.socket).removesuffix(".sock")
    folder = os.path.dirname(server.socket)
    with tempfile.TemporaryDirectory() as runtime:
        os.symlink(folder, os.path.join(runtime, "weir"))
        status, out, err = weir("log", "level", XDG_RUNTIME_DIR=runtime)
        check("the only socket in the usual folder is found", status == 0, err)
        status, out, err = weir("--name", name, "log", "level", XDG_RUNTIME_DIR=runtime)
        check("so is one by its name", status == 0, err)
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(os.path.join(folder, "b.sock"))
            status, out, err = weir("log", "level", XDG_RUNTIME_DIR=runtime)
            check("of several one has to be named", status == 2 and "--name" in err, err)
            os.unlink(os.path.join(folder, "b.sock"))
    status, out, err = weir("log", "level", WEIR_ADMIN_SOCKET=server.socket)
    check("$WEIR_ADMIN_SOCKET is looked at", status == 0, err)
    status, out, err = weir("log", "level", XDG_RUNTIME_DIR="/nowhere")
    check("where there is none, that is said", status == 1 and "no socket in" in err, err)
    status, out, err = weir("--socket", "/nowhere/x.sock", "threads")
    check("a socket that is not there is a failure", status == 1 and "/nowhere/x.sock" in err, err)
    status, out, err = weir("--socket", "x" * 200, "threads")
    check("a path that is too long is a failure", status == 1 and "too long" in err, err)
    for words in (["--sockt", "x", "threads"], [], ["--socket"], ["--timeout", "x", "threads"],
                  ["--socket", "a", "--url", "b", "threads"], ["--token-file", "x", "threads"]):
        status, out, err = weir(*words)
        check(f"weir admin {' '.join(words)} is wrong usage", status == 2 and "try:" in err, err)
    status, out, err = weir("--help")
    check("--help explains", status == 0 and "--token-file" in out, err)
    status, out, err = weir("--socket", server.socket, "\udcff")
    check("a word that is not UTF-8 is refused", status == 1 and "UTF-8" in err, err)


def check_http(check, server):
    with tempfile.TemporaryDirectory() as folder:
        token = os.path.join(folder, "token")
        with open(token, "w", encoding="utf-8") as out:
            out.write(TOKEN + "\n")
        os.chmod(token, 0o600)
        status, out, err = weir("--url", server.url, "threads")
        check("over HTTP it looks without a token", status == 0, err)
        status, out, err = weir("--url", server.url, "log", "level", "info")
        check("and changes nothing without one", status == 2 and "token" in err, err)
        status, out, err = weir("--url", server.url, "--token-file", token, "log", "level", "info")
        check("with one it does", status == 0 and out == "level: info\n", err)
        status, out, err = weir("--url", server.url, "log", "level", "warning",
                                WEIR_ADMIN_TOKEN=TOKEN)
        check("from the environment, too", status == 0, err)
        os.chmod(token, 0o644)
        status, out, err = weir("--url", server.url, "--token-file", token, "threads")
        check("a token file that others may read is refused", status == 1 and "0600" in err and
              TOKEN not in err, err)
    for url in ("https://127.0.0.1:1", "127.0.0.1:80", "http://", "http://a b", "http://x@y/",
                "http://127.0.0.1:1/path"):
        status, out, err = weir("--url", url, "threads")
        check(f"{url} is no address of ours", status == 1 and "is no address like" in err, err)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        status, out, err = weir("--url", f"http://127.0.0.1:{free.getsockname()[1]}", "threads")
        check("where nobody listens, that is said", status == 1 and "nobody answers" in err, err)


def check_socket(check, server):
    mode = stat.S_IMODE(os.stat(server.socket).st_mode)
    check("the socket is its owner's alone", mode == 0o600, oct(mode))
    for data in (b"\n", b"{\n", b"[]\n", b'{"words": []}\n', b'{"words": ["a\\u0000"]}\n',
                 b"\xff\xfe\n", b"GET / HTTP/1.1\n", b'{"words": [["threads"]]}\n'):
        before = server.refused("socket").get("line that is no request, or too long", 0)
        answer = server.line(data)
        check(f"the line {data!r} is answered with an error, counted",
              json.loads(answer)["status"] == "WEIR_E_INVALID" and
              server.refused("socket")["line that is no request, or too long"] == before + 1,
              answer)
    answer = server.line(b"x" * 700_000)
    check("a line without an end is refused", b"too long" in answer or answer == b"", answer)
    answer = server.line(b'{"words": ["threads"]}', close=True)
    check("a line that is cut off is not run", answer == b"", answer)
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(server.socket)
        s.sendall(b'{"words": ["log", "level"]}\n' * 50)
        seen = b""
        while seen.count(b"\n") < 50:
            piece = s.recv(65536)
            if not piece:
                break
            seen += piece
        check("requests in a row are answered in a row", seen.count(b"WEIR_OK") == 50, seen)
        for byte in b'{"words": ["log", "level"]}\n':
            s.sendall(bytes([byte]))
        check("one that comes byte by byte is answered", b"WEIR_OK" in receive(s, b"\n"))
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(server.socket)
        s.sendall(b'{"words": ["large"]}\n' * 3)
    check("a client that leaves before its answer harms nobody",
          server.ask("threads")["status"] == "WEIR_OK")
    clients = []
    for _ in range(40):
        s = socket.socket(socket.AF_UNIX)
        s.connect(server.socket)
        clients.append(s)
    check("beyond 16 clients more are refused", sum(receive_now(s) for s in clients) >= 24)
    for s in clients:
        s.close()
    check("and counted", until(lambda: answers(server)) and
          server.refused("socket")["too many connections"] >= 24)


def answers(server):
    try:
        return server.ask("threads")["status"] == "WEIR_OK"
    except (OSError, ValueError):
        return False


def receive_now(s):
    """True: the other side has closed it, or does so within a moment."""
    s.settimeout(0.3)
    try:
        return s.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def check_peer(check, server):
    if os.geteuid() != 0:
        check.skip("another user is refused by who he is", "not root")
        return
    os.chmod(server.socket, 0o666)
    os.chmod(os.path.dirname(server.socket), 0o755)
    script = ("import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n"
              "s.settimeout(20)\n"
              "try:\n  s.sendall(b'{\"words\": [\"threads\"]}\\n'); print(s.recv(100))\n"
              "except OSError: print(b'')")
    done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c",
                           script, server.socket], capture_output=True, text=True, check=False)
    check("another user is refused by who he is, although the file lets him",
          done.stdout.strip() == "b''" and server.refused("socket").get("another user") == 1,
          done.stdout + done.stderr)


def check_files(check):
    with Server() as one:
        two = Server(socket=one.socket)
        check("a living socket is not taken over", two.close() == 1 and
              "another process answers" in two.said and answers(one), two.said)
        path = one.socket
        one.process.kill()
        one.process.wait()
        check("a killed one leaves its file", os.path.exists(path))
        with Server(socket=path) as three:
            check("which the next one replaces", answers(three), three.said)
        check("a clean end takes it away", not os.path.exists(path))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        with open(path, "w", encoding="utf-8"):
            pass
        server = Server(socket=path)
        check("a file that is no socket is left alone", server.close() == 1 and
              "no socket of ours" in server.said and os.path.exists(path), server.said)
        os.chmod(folder, 0o777)
        server = Server(socket=os.path.join(folder, "a.sock"))
        check("a folder that others may write is refused", server.close() == 1 and
              "nobody else may write" in server.said, server.said)
        server = Server(socket=os.path.join(folder, "x" * 120))
        check("a path that is too long is refused", server.close() == 1 and
              "bytes" in server.said, server.said)
        os.chmod(folder, 0o700)
        with Server(socket=os.path.join(folder, "made", "a.sock")) as server:
            mode = stat.S_IMODE(os.stat(os.path.join(folder, "made")).st_mode)
            check("a folder is made, for its owner alone", mode == 0o700, oct(mode))
    with Server(socket_enabled=False, http__port=0) as server:
        check("without a socket there is none", not server.socket and server.url)


def check_held(check, server):
    check("a processor is held", server.tell("hold") == "WEIR_OK")
    answer = server.ask("book", "reset", "X")
    check("a command of it is given up after its time", answer["status"] == "WEIR_TIMEOUT" and
          "not run" in answer["error"], answer)
    server.tell("release")
    check("and is not run later", until(lambda: server.ask("book", "reset", "Y")["rows"] != [])
          and server.ask("book", "reset", "Z")["rows"][0]["resets"] <= 4)


def check_threads(check, server):
    names = set()
    for task in os.listdir(f"/proc/{server.process.pid}/task"):
        with open(f"/proc/{server.process.pid}/task/{task}/stat", encoding="utf-8") as text:
            line = text.read()
        names.add((re.search(r"\((.*)\)", line)[1], int(line.rsplit(")", 1)[1].split()[16])))
    check("both ways have a thread with a name, and are nice", {("weir-admin", 10),
                                                                ("weir-http", 10)} <= names, names)


def is_pinned(process):
    """The thread names itself and goes to its core when it begins, which may be later than ready."""
    for number in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{number}/status", encoding="utf-8") as lines:
            task = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        if task["Name"].strip() == "weir-admin" and task["Cpus_allowed_list"].strip() == "0":
            return True
    return False


def policies_of(process):
    """Of each thread by its name: 0 ordinary, 1 fifo, 2 round robin; and its real-time priority."""
    found = {}
    for number in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{number}/stat", encoding="utf-8") as text:
            line = text.read()
        fields = line.rsplit(")", 1)[1].split()
        found[re.search(r"\((.*)\)", line)[1]] = (int(fields[38]), int(fields[37]))
    return found


with tap.plan() as check:
    with Server(http__port=0, http__token=TOKEN) as main:
        check_command(check, main)
        check_page(check, main)
        check_change(check, main)
        check_ways(check, main)
        check_http(check, main)
        check_socket(check, main)
        check_held(check, main)
        check_threads(check, main)
        check_peer(check, main)
    check("it ends as it should", main.process.returncode == 0)
    check_files(check)
    with Server(thread__cores=[0], thread__nice=0) as pinned:
        check("its thread is pinned", until(lambda: is_pinned(pinned.process.pid)))
    with Server(http__port=0, thread__name="ops", thread__priority="fifo",
                thread__priority_value=3) as urgent:
        allowed = (1, 3) if os.geteuid() == 0 else (0, 0)
        check("its threads have the name and the priority that they were given, or a warning",
              until(lambda: {policies_of(urgent.process.pid).get(name)
                             for name in ("ops-admin", "ops-http")} == {allowed}),
              policies_of(urgent.process.pid))
