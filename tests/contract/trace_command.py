# SPDX-License-Identifier: Apache-2.0
"""`weir trace`: a file that Perfetto opens, whole or not at all; and the commands behind it."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import tap

WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))
NAME = 'a \\"quoted\\\\ name ü'  # as HOCON and JSON have it; components have only sane ones
CONFIG = """
weir.engine.name = "NAME"
weir.admin.socket = "SOCKET"
weir.components {
  gen { type = generator, rate = 5000, keys = 10, template = "${key} ${random:900}" }
  work { type = filter, feeds = [gen], pattern = "^\\\\S+", to = out }
  out { type = discard }
}
"""


def weir(*arguments, **keywords):
    done = subprocess.run([WEIR, *arguments], capture_output=True, text=True, check=False,
                          timeout=tap.TIMEOUT_S, **keywords)
    return done.returncode, done.stdout, done.stderr


class Server:
    def __init__(self, folder):
        self.socket = str(folder / "a.sock")
        config = folder / "a.conf"
        config.write_text(CONFIG.replace("SOCKET", self.socket).replace("NAME", NAME))
        self.process = subprocess.Popen([WEIR, "run", str(config)], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if "it runs" in line:
                break

    def admin(self, *words):
        return weir("admin", "--socket", self.socket, "--json", *words)

    def kill(self):
        self.process.kill()
        self.process.wait()


def check_events(check, events):
    for event in events:
        if not all(key in event for key in ("ph", "ts", "pid", "tid")):
            check("every event has ph, ts, pid, tid", False, str(event))
            return
    check("every event has ph, ts, pid, tid", True)
    check("they are of the kinds that are used", {e["ph"] for e in events} <= set("XMsfC"),
          str({e["ph"] for e in events}))
    slices = [e for e in events if e["ph"] == "X"]
    check("slices have a length and a name", all(e["dur"] >= 0 and isinstance(e["name"], str)
                                                 for e in slices))
    kinds = {e["cat"] for e in slices}
    check("turns, handlers, sleeps and agents are there",
          {"turn", "handler", "park", "agents"} <= kinds, str(kinds))
    turns = [e for e in slices if e["cat"] == "turn"]
    check("turns say how many events, and on which dispatcher and core",
          all({"events", "dispatcher", "core"} <= set(e["args"]) for e in turns) and
          sum(e["args"]["events"] for e in turns) > 100)
    handlers = [e for e in slices if e["cat"] == "handler"]
    check("handlers say what, from whom, and how long it waited",
          all({"type", "sender", "flow", "queueing_ns"} <= set(e["args"]) and
              e["args"]["queueing_ns"] >= 0 for e in handlers))
    names = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    check("threads have names", len(names) >= 1 and all(names), str(names))
    name = json.loads(f'"{NAME}"')
    check("the process has the engine's, whatever letters that has",
          any(e["name"] == "process_name" and e["args"]["name"] == name for e in events))


def nested(slices):
    """Of one thread: each is inside of what is around it. A nanosecond is lost in rounding."""
    around = []
    for e in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        begin, end = e["ts"], e["ts"] + e["dur"]
        while around and around[-1] <= begin + 0.0005:
            around.pop()
        if around and end > around[-1] + 0.0015:
            return e
        around.append(end)
    return None


def check_around(check, events, what=""):
    """An arrow that begins or ends beside every slice is not drawn by others."""
    slices = {}
    for e in events:
        if e["ph"] == "X":
            slices.setdefault(e["tid"], []).append((e["ts"] - 0.0005, e["ts"] + e["dur"] + 0.0005))
    bare = [e for e in events if e["ph"] in "sf" and
            not any(begin <= e["ts"] <= end for begin, end in slices.get(e["tid"], []))]
    check(f"{what}a slice is around both ends of each arrow", not bare, str(bare[:3]))


def check_order(check, events):
    check_around(check, events)
    threads = {}
    for e in events:
        if e["ph"] == "X":
            threads.setdefault(e["tid"], []).append(e)
    wrong = [e for slices in threads.values() if (e := nested(slices)) is not None]
    check("slices of a thread nest", not wrong, str(wrong[:1]))
    begins = {}
    for e in events:
        if e["ph"] == "s":
            begins.setdefault(e["id"], []).append(e["ts"])
    ends = [e for e in events if e["ph"] == "f"]
    check("there are arrows", len(ends) > 10, str(len(ends)))
    check("each has a begin that is not later", all(
        e["id"] in begins and min(begins[e["id"]]) <= e["ts"] for e in ends))


def check_file(check, server, folder):
    path = folder / "t.json"
    status, out, err = weir("trace", "--seconds", "0.5", "-o", str(path), "-s", server.socket)
    check("a trace is written", status == 0 and "t.json" in out and not err, out + err)
    document = json.loads(path.read_text())
    events = document["traceEvents"]
    check_events(check, events)
    check_order(check, events)
    names = {e["name"] for e in events if e["ph"] == "X" and e["cat"] == "turn"}
    check("turns are called as their processors", names == {"work", "out"}, str(names))
    check("nothing was lost", document["otherData"]["records_lost"] == 0)
    check("no other file was left", sorted(p.name for p in folder.iterdir()) ==
          ["a.conf", "a.sock", "t.json"], str(list(folder.iterdir())))
    status, out, err = weir("trace", "--seconds", "0.2", "-o", "-", "-s", server.socket)
    check("- is the standard output, and only JSON",
          status == 0 and "traceEvents" in json.loads(out), err)
    status, out, err = weir("trace", "--seconds", "0.5", "--records", "16", "-o", str(path), "-s",
                            server.socket)
    lost = json.loads(path.read_text())
    check("with few records the oldest are lost, and it says so",
          status == 0 and "overwritten" in err and lost["otherData"]["records_lost"] > 0, err)
    check_order_of_few(check, lost["traceEvents"])


def check_order_of_few(check, events):
    begins = {e["id"] for e in events if e["ph"] == "s"}
    check_around(check, events, "of what is left, too, ")
    check("no arrow ends that does not begin",
          all(e["id"] in begins for e in events if e["ph"] == "f"))


def check_refusals(check, server, folder):
    path = str(folder / "u.json")
    status, _, _ = server.admin("trace", "start")
    check("trace start begins one", status == 0)
    status, _, err = weir("trace", "-o", path, "-s", server.socket)
    check("a second one is refused, and why is said",
          status == 1 and "on already" in err and not os.path.exists(path), err)
    status, _, err = server.admin("trace", "read", "0")
    check("one that is on is not read", status != 0, err)
    status, out, _ = server.admin("trace", "stop")
    check("trace stop ends it", status == 0 and "recording" in out, out)
    status, out, _ = server.admin("trace", "stop")
    check("but once", status == 1 and "no trace is on" in out, out)
    for cursor in ("x", "-1", "99999999999999999", "7", "4294967295", str(1 << 40)):
        status, out, err = server.admin("trace", "read", cursor)
        check(f"{cursor} is no cursor", status == 2, out + err)
    for arguments, text in ((["--seconds", "0"], "--seconds"), (["--records", "7"], "power of two"),
                            (["x"], "too many"), (["--sconds", "1"], "did you mean")):
        status, _, err = weir("trace", *arguments, "-s", server.socket)
        check(f"weir trace {' '.join(arguments)} is wrong usage", status == 2 and text in err, err)
    status, _, err = weir("trace", "-o", "/nowhere/t.json", "-s", server.socket)
    check("a file that cannot be written is told before anything is recorded",
          status == 1 and "/nowhere/t.json" in err and
          server.admin("trace", "stop")[0] == 1, err)


def check_special(check, server, folder):
    """What is no file is written to, not replaced by one."""
    for name, words in (("trace", ("trace", "--seconds", "0.2", "-o")),
                        ("doctor", ("doctor", "--seconds", "0.2", "--save"))):
        path = folder / f"{name}.fifo"
        os.mkfifo(path)
        copy = folder / f"{name}.copy"
        with copy.open("wb") as out, subprocess.Popen(["cat", str(path)], stdout=out) as reader:
            weir(*words, str(path), "-s", server.socket)
            still = path.is_fifo()
            if not still:
                reader.kill()
            reader.wait(tap.TIMEOUT_S)
        text = copy.read_text(encoding="utf-8")
        check(f"weir {name} into a pipe: it gets all of it, and stays one",
              still and isinstance(json.loads(text or "null"), dict), text[:100])


def pieces_of(server):
    """All of the recording by `trace read`."""
    text, cursor = "", 0
    while True:
        answer = json.loads(server.admin("trace", "read", str(cursor))[1])["rows"][0]
        if len(answer["text"]) > (1 << 20) + 8192:
            return None
        text += answer["text"]
        if not answer["more"]:
            return text
        cursor = answer["next"]


def check_pieces(check, server):
    server.admin("trace", "start", "16384")
    time.sleep(0.8)  # for as long as that it records; nothing waits for it
    server.admin("trace", "stop")
    text = pieces_of(server)
    check("pieces are at most 1 MiB and a record, and together a document",
          text is not None and "traceEvents" in json.loads(text))
    check("they can be read again", text == pieces_of(server))


def start_trace(server, path):
    """Until it is on: then nobody else can begin one. If this script was faster, once more."""
    end = time.monotonic() + tap.TIMEOUT_S
    while time.monotonic() < end:
        process = subprocess.Popen([WEIR, "trace", "--seconds", "60", "-o", path, "-s",
                                    server.socket], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        while process.poll() is None:
            time.sleep(0.2)
            status, out, _ = server.admin("trace", "start")
            if status != 0 and "on already" in out:
                return process
            server.admin("trace", "stop")
        process.communicate()
    return process


def check_ends(check, folder):
    folder.mkdir()
    server = Server(folder)
    path = str(folder / "early.json")
    process = start_trace(server, path)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=tap.TIMEOUT_S)
    check("Ctrl-C ends it early, and the file is there", process.returncode == 0 and
          "traceEvents" in json.loads(open(path).read()), out + err)
    pathlib.Path(path).write_text("before")
    process = start_trace(server, path)
    server.kill()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=tap.TIMEOUT_S)
    check("a server that dies is an error", process.returncode == 1 and err, out + err)
    check("and what was there under that name stays, and nothing beside it",
          open(path).read() == "before" and
          sorted(p.name for p in folder.iterdir() if "early" in p.name) == ["early.json"])
    status, _, err = weir("trace", "-o", path, "-s", server.socket)
    check("where nobody is, it says so", status == 1 and "nobody answers" in err, err)


def check_recent(check, server):
    status, out, err = server.admin("processors", "recent", "out")
    rows = json.loads(out)["rows"]
    check("the last events of a processor are shown", status == 0 and rows and
          all(row["type"] == "weir.text" and row["size"] > 0 and row["thread"] for row in rows),
          out + err)
    status, out, _ = server.admin("processors", "recent", "outt")
    check("the nearest name is told", status == 1 and "did you mean 'out'" in out, out)


with tap.plan() as check, tempfile.TemporaryDirectory(prefix="weir-trace-") as name:
    folder = pathlib.Path(name) / "a"
    folder.mkdir()
    server = Server(folder)
    check_file(check, server, folder)
    check_pieces(check, server)
    check_refusals(check, server, folder)
    check_special(check, server, folder)
    check_recent(check, server)
    server.process.terminate()
    check("the server ends well", server.process.wait(timeout=tap.TIMEOUT_S) == 0)
    check_ends(check, pathlib.Path(name) / "b")
