#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weir top` as people and programs have it: its text, its JSON, and its pages in a real terminal
(tmux) of 80 x 24 and of 200 x 50, with keys, another size, and a server that goes and comes back."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import tap

WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))
RATE = 2000
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="weir-top-"))
SOCKET = FOLDER / "a.sock"
CONFIG = """
weir {
  engine { name = topped, thread-dispatcher-assignment = [ [""], [api], [api] ] }
  flows.by-key { keys = bytes, targets = [worker] }
  components {
    orders { type = generator, rate = %d, keys = 20, template = "${key} 1" }
    keyed  { type = key-by, feeds = [orders], pattern = "^\\\\S+", to = by-key }
    worker { type = count, instances = 9, dispatcher = api }
    tally  { type = count, feeds = [orders] }
  }
  admin { socket = "%s" }
}
""" % (RATE, SOCKET)


def until(what, seconds=20):
    """What is true in the end, or the last answer."""
    end = time.monotonic() + seconds
    answer = what()
    while not answer and time.monotonic() < end:
        time.sleep(0.05)
        answer = what()
    return answer


def top(*options, **keywords):
    return subprocess.run([WEIR, "top", *options], capture_output=True, text=True, check=False,
                          timeout=tap.TIMEOUT_S, **keywords)


def listens():
    with socket.socket(socket.AF_UNIX) as s:
        return s.connect_ex(str(SOCKET)) == 0


@contextlib.contextmanager
def server():
    config = FOLDER / "weir.conf"
    config.write_text(CONFIG, encoding="utf-8")
    process = subprocess.Popen([WEIR, "run", str(config), "--json"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        if not until(listens):
            raise RuntimeError("the server does not come")
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(timeout=30)


# ---- the command line -------------------------------------------------------------------------

def check_usage(check):
    done = top("--help")
    check("--help says how it is used", done.returncode == 0 and "usage: weir top" in done.stdout)
    for words, text in ((["--interval", "0"], "--interval takes 100ms to 3600s, not '0'"),
                        (["--interval", "1m"], "--interval takes"),
                        (["--interval", "nan"], "--interval takes"),
                        (["--sort", "dept"], "did you mean 'depth'?"),
                        (["--sort", "zzzzzz"], "no table has a column 'zzzzzz'; some are:"),
                        (["--onc"], ""), (["--wrong"], "unknown option --wrong"),
                        (["x"], "it takes options only, not 'x'"),
                        (["--socket", "a", "--name", "b"], "is enough")):
        done = top(*words, "--socket", str(FOLDER / "none"), "--once")
        check(f"weir top {' '.join(words)} is " + ("wrong usage" if text else "an abbreviation"),
              done.returncode == (2 if text else 1) and text in done.stderr, done.stderr)
    done = top("--socket", str(FOLDER / "none"))
    check("nobody there: it says so, and where",
          done.returncode == 1 and f"nobody answers at {FOLDER / 'none'}" in done.stderr,
          done.stderr)


# ---- servers that are not what they should be --------------------------------------------------

def answering(text, *options):
    """(exit status, what top said) of a server that answers so."""
    path = FOLDER / "fake.sock"
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(path))
        s.listen(4)
        s.settimeout(0.1)
        ended = threading.Event()

        def answer():
            while not ended.is_set():
                with contextlib.suppress(OSError):
                    client, _ = s.accept()
                    with client:
                        client.makefile("rb").readline()
                        client.sendall(text)
        thread = threading.Thread(target=answer)
        thread.start()
        done = top("--socket", str(path), "--once", "--interval", "100ms", *options)
        ended.set()
        thread.join()
    return done.returncode, done.stdout + done.stderr


def row(document):
    return json.dumps({"command": "metrics json", "status": "WEIR_OK",
                       "rows": [{"json": document}]}).encode() + b"\n"


def check_servers(check):
    for what, answer, text in (
            ("too old", b'{"command": "", "status": "WEIR_UNKNOWN", "rows": [], "error": "none"}\n',
             "too old to show its metrics"),
            ("no JSON", b"hello\n", "its answer is no JSON"),
            ("a cut document", row('{"engine": {"na'), "its answer is no JSON"),
            ("an answer without metrics", b'{"status": "WEIR_OK", "rows": []}\n',
             "does not answer with metrics"),
            ("another document", row('{"findings": []}'), "its answer has no engine"),
            ("an answer that is cut off", b'{"status": "WEIR_OK"', "its answer is no JSON"),
            ("nothing", b"", "without an answer")):
        status, said = answering(answer)
        check(f"a server that is {what}: an error, no page" if what == "too old" else
              f"a server that gives {what}: an error, no page", status == 1 and text in said, said)
    status, said = answering(row('{"engine": {}}'))
    check("a document with nothing but an engine is a page of unknown figures",
          status == 0 and "events/s -" in said, said)
    status, said = answering(row('{"engine": {}}'), "--json")
    check("the same as JSON has null for what is not known",
          status == 0 and json.loads(said)["time_ns"] is None, said)
    status, said = answering(b"x" * (50 << 20))
    check("an answer without an end is given up, and said to be one",
          status == 1 and "does not end" in said, said[:200])
    odd = {"engine": {"name": "\x1b]0;x\x07", "handled": -5, "uptime_ns": "x", "depth": 1e300},
           "processors": [{"processor": "\x1b[2J" * 50}] * 3, "threads": [[], 7, None],
           "dispatchers": [{"try_locks": 0, "try_locks_failed": 9}], "feeds": {"feed": 1}}
    status, said = answering(row(json.dumps(odd)))
    check("a hostile document neither ends it nor steers the terminal",
          status == 0 and "\x1b" not in said and "?[2J" in said, said)


@contextlib.contextmanager
def deaf(talk=b""):
    """A server that takes every request and never answers; with `talk` it sends that, over and over."""
    path = FOLDER / "deaf.sock"
    path.unlink(missing_ok=True)
    asked, ended = threading.Event(), threading.Event()
    clients = []

    def serve(s):
        while not ended.is_set():
            with contextlib.suppress(OSError):
                client, _ = s.accept()
                clients.append(client)
                client.recv(4096)
                asked.set()
            while talk and clients and not ended.wait(0.05):
                with contextlib.suppress(OSError):
                    clients[-1].send(talk)
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(path))
        s.listen(4)
        s.settimeout(0.1)
        thread = threading.Thread(target=serve, args=(s,))
        thread.start()
        try:
            yield path, asked
        finally:
            ended.set()
            thread.join()
            for client in clients:
                client.close()


def check_deaf(check):
    """Ctrl-C ends it while it waits for an answer, too."""
    for talk in (b"", b"x"):
        for words in (["top", "--once"], ["top", "--json"],
                      ["trace", "-o", str(FOLDER / "deaf.json")]):
            with deaf(talk) as (path, asked):
                process = subprocess.Popen([WEIR, *words, "--socket", str(path)],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                asked.wait(tap.TIMEOUT_S)
                begun = time.monotonic()
                process.send_signal(signal.SIGINT)
                try:
                    said = process.communicate(timeout=20)[1]
                finally:
                    process.kill()
                took = time.monotonic() - begun
            check(f"a Ctrl-C ends weir {words[0]} {words[1]} under a server that "
                  + ("drips" if talk else "hangs") + ", and leaves nothing behind",
                  process.returncode == 1 and took < 20 and "interrupted" in said
                  and not list(FOLDER.glob("deaf.json*")), f"{process.returncode} {took:.1f} {said}")
    with deaf(b"x") as (path, asked):
        done = subprocess.run([WEIR, "admin", "--timeout", "1", "--socket", str(path), "status"],
                              capture_output=True, text=True, check=False, timeout=tap.TIMEOUT_S)
        check("a server that drips is given up when the time is over",
              done.returncode == 1 and "in time" in done.stderr, done.stderr)


# ---- text and JSON ----------------------------------------------------------------------------

def rows_of(document, table, key):
    return {row[key]: row for row in document[table]}


def check_plain(check):
    once = top("--socket", str(SOCKET), "--once")
    check("--once: a page of text", once.returncode == 0 and
          once.stdout.startswith("weir top  topped  up  running "), once.stdout + once.stderr)
    for word in ("dispatcher", "thread", "processor", "feed", "router", "worker", "orders",
                 "by-key", "tally", "api"):
        check(f"--once shows {word}", re.search(rf"^{word}\b|\b{word}\b", once.stdout, re.M),
              once.stdout)
    check("plain text has no escape sequences", "\x1b" not in once.stdout, once.stdout)
    piped = top("--socket", str(SOCKET), "--filter", "tally")
    check("if the output is no terminal it looks once; a filter leaves what has it",
          piped.returncode == 0 and "tally" in piped.stdout and "router" not in piped.stdout,
          piped.stdout + piped.stderr)

    done = top("--socket", str(SOCKET), "--once", "--json", "--sort", "processor")
    document = json.loads(done.stdout)
    processors = rows_of(document, "processors", "processor")
    rate = processors["tally"]["events_per_s"]
    check(f"the rate of a processor is that of its generator ({RATE} a second)",
          abs(rate - RATE) < RATE * 0.2, rate)
    rate = rows_of(document, "feeds", "feed")["orders"]["published_per_s"]
    check("so is that of its feed", abs(rate - RATE) < RATE * 0.2, rate)
    check("the looks are an interval apart", 0.8 < document["seconds"] < 3, document["seconds"])
    check("--sort by a name sorts by it", list(processors) == sorted(processors), processors)
    check("its JSON has the engine, its dispatchers and threads",
          document["engine"]["name"] == "topped" and document["engine"]["status"] == "up" and
          set(rows_of(document, "dispatchers", "dispatcher")) == {"", "api"} and
          len(document["threads"]) >= 3, document)

    stream = subprocess.Popen([WEIR, "top", "--socket", str(SOCKET), "--json", "--interval",
                               "200ms"], stdout=subprocess.PIPE, text=True)
    lines = [json.loads(stream.stdout.readline()) for _ in range(3)]
    stream.send_signal(signal.SIGINT)
    stream.stdout.read()
    check("--json: a line of JSON each interval, until Ctrl-C",
          stream.wait(timeout=20) == 0 and
          lines[0]["time_ns"] < lines[1]["time_ns"] < lines[2]["time_ns"], lines)


# ---- in a terminal ----------------------------------------------------------------------------

class Terminal:
    """tmux with `weir top` in it, and a shell's word on how it ended."""

    def __init__(self, width, height, *options, **environment):
        self.name = f"weir-top-{os.getpid()}-{width}"
        words = " ".join(f"{key}={value}" for key, value in environment.items())
        command = (f"stty -a > {FOLDER}/before; "
                   f"env LC_ALL=C.UTF-8 {words} {WEIR} top --socket {SOCKET} -i 200ms "
                   f"{' '.join(options)}; echo \"ended $?\"; stty -a > {FOLDER}/after; cat")
        # A terminal of its own, whatever this one is.
        self.run("new-session", "-d", "-x", str(width), "-y", str(height), command,
                 env={**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})
        self.run("set-option", "-g", "status", "off")
        self.resize(width, height)

    def run(self, *words, **options):
        return subprocess.run(["tmux", "-u", "-L", self.name, "-f", "/dev/null", *words],
                              capture_output=True, text=True, check=False, timeout=30,
                              **options).stdout

    def resize(self, width, height):
        self.run("resize-window", "-x", str(width), "-y", str(height))

    def keys(self, *keys):
        self.run("send-keys", *keys)

    def text(self, *options):
        return self.run("capture-pane", "-p", *options)

    def shows(self, *patterns):
        """The page once it has all of them; else "" and the last one is kept."""
        def look():
            self.last = self.text()
            return all(re.search(p, self.last, re.M) for p in patterns)
        return self.last if until(look) else ""

    def hides(self, *patterns):
        def look():
            self.last = self.text()
            return self.last.strip() and not any(re.search(p, self.last, re.M) for p in patterns)
        return self.last if until(look) else ""

    def close(self):
        self.run("kill-server")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def check_small(check):
    with Terminal(80, 24) as t:
        page = t.shows(r"^weir top  topped  up  running", r"^dispatcher ", r"^thread ",
                       r"^proces 5/12 ", r"^feed ", r"1>all")
        check("80 x 24: header, dispatchers, threads, processors, feeds", page, t.last)
        lines = page.rstrip("\n").split("\n")
        check("80 x 24: the page is 24 lines, the keys on the last", len(lines) == 24 and
              lines[-1].startswith("1>all"), lines)
        check("80 x 24: no line is wider than the window", max(map(len, lines)) < 80, page)
        first = re.search(r"running [0-9.]+ s", page or "?")
        check("it is live: the time goes on",
              first and t.hides(re.escape(first[0]) + "$"), t.last)
        t.resize(80, 16)
        check("80 x 16: it names what it has no room for",
              t.shows(r"^no room for: 1 feed, 1 router, 9 workers"), t.last)
        t.resize(80, 24)
        check_keys(check, t)


def names_of(page):
    """Of the rows under the head of the processors."""
    return [line.split()[0] for line in page.split("\nprocessor", 1)[1].split("\n")[1:-2] if line]


def check_keys(check, t):
    t.keys("4")
    check("4: processors alone", t.shows(r"4>proc", r"^tally") and t.hides(r"^dispatcher "), t.last)
    t.keys("Tab")
    check("Tab: the next view", t.shows(r"5>flow", r"^worker ", r"^router "), t.last)
    t.keys("BTab")
    check("Shift-Tab: the one before", t.shows(r"4>proc"), t.last)
    t.keys("<")
    check("<: sorted by the column before, by name", t.shows(r"sort: processor$", r"processor▲"),
          t.last)
    names = names_of(t.last)
    check("and they are", names == sorted(names) and len(names) >= 4, names)
    t.keys("r")
    check("r: the other way round", t.shows(r"processor▼"), t.last)
    turned = names_of(t.last)
    check("and they are turned round", turned == names[::-1], turned)
    t.keys("/", "tall", "Enter")
    check("/: what has the text", t.shows(r"filter: tall", r"^tally") and t.hides(r"^keyed"), t.last)
    t.keys("Escape")
    check("Esc: all again", t.shows(r"^keyed", r"^tally"), t.last)
    t.keys("?")
    check("?: what the keys are", t.shows(r"sort by the next column", r"rule of thumb"), t.last)
    t.keys("?", "p")
    check("p: pause", t.shows(r"^paused"), t.last)
    before = t.text()
    time.sleep(0.7)  # three intervals in which nothing may happen
    check("a page that is paused stays as it is", t.text() == before, t.text())
    t.keys("p", "7")
    check("7: figures of one's own, those of sources among them, with their rates",
          t.shows(r"7>own", r"^figure ", r"^connector_events_total +[0-9,]+ +[12],[0-9]{3} ")
          and t.hides(r"^processor"), t.last)
    lines = t.last.rstrip("\n").split("\n")
    check("in 80 columns, with whom they are of",
          max(map(len, lines)) < 80 and re.search(r'^connector_events.* component="orders"', t.last,
                                                  re.M), t.last)
    t.keys("1")
    check("and goes on", t.shows(r"^1>all"), t.last)


def check_sizes(check):
    with Terminal(200, 50) as t:
        page = t.shows(r"^dispatcher .* thread ", r"^processor .*q p99", r"^feed .* router ")
        check("200 x 50: tables side by side, more columns", page, t.last)
        check("200 x 50: nothing is cut", "no room for" not in page and not
              re.search(r"^processor \d+/\d+", page, re.M), page)
        check("200 x 50: the page is the window", len(page.rstrip("\n").split("\n")) == 50, page)
        t.resize(80, 24)
        check("another size: the page follows",
              t.hides(r"^dispatcher .* thread ") and t.shows(r"^thread .*utilisation"), t.last)
        t.resize(15, 4)
        check("a tiny window says that it is one", t.shows(r"weir top: the"), t.last)
        t.resize(200, 50)
        check("and all of it comes back", t.shows(r"^dispatcher .* thread "), t.last)
        coloured = t.text("-e")
        check("on a terminal there are colours", re.search(r"\x1b\[[0-9;]*32m", coloured), coloured)
        t.keys("q")
        check("q: it ends with 0, and what was there before is there again",
              t.shows(r"^ended 0") and "weir top" not in t.last, t.last)
        until(lambda: (FOLDER / "after").exists() and (FOLDER / "after").read_text())
        check("the terminal is as it was",
              (FOLDER / "before").read_text() == (FOLDER / "after").read_text())
        (FOLDER / "after").unlink()
    with Terminal(100, 30, NO_COLOR="1") as t:
        page = t.shows(r"^dispatcher ", r"^proc") and t.text("-e")
        check("NO_COLOR: no colours", page and not re.search(r"\x1b\[[0-9;]*m", page), page)
        t.keys("C-c")
        check("Ctrl-C ends it as q does", t.shows(r"^ended 0"), t.last)
    with Terminal(90, 24, TERM="dumb") as t:
        check("a terminal that cannot be redrawn gets one page", t.shows(r"^ended 0"), t.last)


def check_suspend(check):
    shell = f"{WEIR} top --socket {SOCKET} -i 200ms"
    with Terminal(100, 24) as t:
        t.shows(r"^dispatcher ")
        t.keys("q")
        t.shows(r"^ended 0")
        t.run("respawn-pane", "-k", "env LC_ALL=C.UTF-8 PS1='ready> ' bash --norc -i")
        t.shows(r"^ready>")
        t.keys(shell, "Enter")
        check("from a shell", t.shows(r"^dispatcher ", r"1>all"), t.last)
        t.keys("C-z")
        check("Ctrl-Z: the shell is there", t.shows(r"Stopped", r"^ready>\s*$") and
              "1>all" not in t.last, t.last)
        t.keys("fg", "Enter")
        check("fg: the page is there again", t.shows(r"^dispatcher ", r"1>all"), t.last)
        t.keys("4")
        check("and keys work", t.shows(r"4>processors|4>proc"), t.last)
        t.keys("C-c")
        for key, what in (("C-c", "Ctrl-C"), ("C-\\", "Ctrl-\\"), ("q", "q")):
            t.shows(r"^ready>\s*$")
            t.keys(f"clear; stty -g >{FOLDER}/before; {shell}; stty -g >{FOLDER}/after", "Enter")
            t.shows(r"^dispatcher ", r"1>all")
            t.keys(key)
            good = t.shows(r"^ready>\s*$") and "1>all" not in t.last
            ways = [(FOLDER / name).read_text(encoding="utf-8") for name in ("before", "after")]
            check(f"{what}: the terminal is as it was", good and ways[0] == ways[1] != "",
                  f"{t.last}\n{ways}")


def check_restart(check):
    with server() as process:
        with Terminal(120, 30) as t:
            check("a page of a server", t.shows(r"^weir top  topped  up", r"^tally"), t.last)
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30)
            check("the server is gone: it says so, and keeps the last figures",
                  t.shows(r"^nobody answers at .*trying again", r"^tally"), t.last)
            t.keys("4")
            check("keys work meanwhile", t.shows(r"4>processors", r"nobody answers"), t.last)
            with server():
                check("it is back: the page goes on",
                      t.hides(r"nobody answers") and t.shows(r"^weir top  topped  up", r"^tally"),
                      t.last)
                t.keys("q")
                check("and ends well", t.shows(r"^ended 0"), t.last)


def main():
    try:
        with tap.plan() as check:
            check_usage(check)
            check_servers(check)
            check_deaf(check)
            with server():
                check_plain(check)
                if shutil.which("tmux") is None:
                    check.skip("pages in a terminal", "tmux is not installed")
                else:
                    check_small(check)
                    check_sizes(check)
                    check_suspend(check)
            if shutil.which("tmux") is not None:
                check_restart(check)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)


if __name__ == "__main__":
    main()
