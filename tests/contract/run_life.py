# SPDX-License-Identifier: Apache-2.0
"""The life of `weir run`: the order of all hooks, components that fail, signals, sums, exit
statuses, cores."""
import json
import pathlib
import signal
import subprocess
import time

import server
import tap

PLUGIN = f'weir.plugins = ["{server.RECORDER}"]\n'
THREADS = """
weir.engine.threads = [{ name = io, dispatchers = [io] }, { name = work, dispatchers = [""] }]
"""
CHAIN = PLUGIN + THREADS + """
weir.components {
  ticks { type = recorder-source, log = log, thread = io, feed.slow-consumer = block }
  book { type = recorder-processor, log = log, feeds = [ticks], to = out }
  out { type = recorder-sink, log = log, after = [clock] }
  clock { type = recorder-service, log = log }
}
"""
RUNS = "ticks start-complete"
PUBLISHED = "ticks published"  # all that it will
# Who is referred to comes first; sources complete last; the way down is the way up, reversed.
ORDER_UP = ["init", "start", "start-complete"]


def write(text, name="f.conf"):
    """A file to run, and no trace of the run before."""
    pathlib.Path("log").unlink(missing_ok=True)
    pathlib.Path(name).write_text(text, encoding="utf-8")


def runs(what=RUNS):
    return server.until(lambda: what in server.lines("log"))


def places(found, hook):
    return [line.split()[0] for line in found if line.split()[1] == hook]


def check_order(check):
    with server.folder():
        write(CHAIN)
        with server.Server("f.conf") as weir:
            check("it comes up", runs(), weir.said())
            status = weir.stop()
            found = server.lines("log")
            for hook in ORDER_UP[:2]:
                order = places(found, hook)
                check(f"{hook}: who is referred to comes first",
                      sorted(order) == ["book", "clock", "out", "ticks"] and
                      order.index("clock") < order.index("out") < order.index("book"), found)
            check("start_complete: sources are the last", places(found, "start-complete")[-1] ==
                  "ticks" and len(places(found, "start-complete")) == 4, found)
            hooks = [line.split()[1] for line in found]
            check("every init comes before every start, every start before every start_complete",
                  hooks[:12] == ["init"] * 4 + ["start"] * 4 + ["start-complete"] * 4, found)
            stops = places(found, "stop")
            check("stop: sources first, then from the ends to what they refer to",
                  stops[0] == "ticks" and
                  stops.index("book") < stops.index("out") < stops.index("clock"), found)
            downs = places(found, "tear-down")
            check("tear_down: the reverse of init", downs == places(found, "init")[::-1], found)
            check("all was handled: it ends with 0", status == 0, weir.said())


def check_failures(check):
    for moment in ("init", "start", "start-complete"):
        with server.folder():
            write(CHAIN.replace("out { ", f"out {{ fail = {moment}, "))
            status, out, error = server.weir("run", "f.conf")
            found = server.lines("log")
            check(f"a component that fails in {moment} is named, and it ends with 1",
                  status == 1 and "out" in error and "told to fail" in error and out == "", error)
            ups = [name for name in places(found, "init") if (moment, name) != ("init", "out")]
            check(f"failing in {moment}: every init that went well is undone, in reverse",
                  places(found, "tear-down") == ups[::-1], found)
            started = set(places(found, "start")) - ({"out"} if moment == "start" else set())
            check(f"failing in {moment}: all that was started is stopped, and no source began",
                  started <= set(places(found, "stop")) and RUNS not in found, found)


def check_sums(check):
    with server.folder():
        write(CHAIN)
        with server.Server("f.conf", "--json", "-D", "weir.components.ticks.count=5000") as weir:
            check("the source publishes", runs(PUBLISHED), weir.said())
            status = weir.stop(signal.SIGINT)
            sums = weir.sums()
            parts = {part["name"]: part for part in sums["components"]}
            published = parts["ticks"]["published"]
            check("Ctrl-C ends with 0 and the sums", status == 0 and sums["end"] == "stopped" and
                  sums["left"] == 0, sums)
            check("what the source published each of the others has handled",
                  published == 5000 and parts["book"]["handled"] == published and
                  parts["out"]["handled"] == published, sums)
            check("accepted = handled + dropped + dead + left", sums["accepted"] ==
                  sums["handled"] + sums["dropped"] + sums["dead"] + sums["left"], sums)
            check("--json is alone on standard output", weir.printed().count("\n") == 1, "")
        write(CHAIN.replace("out { ", "out { fail = handler, "))
        with server.Server("f.conf", "--json", "--seconds", "0.5", "-D",
                           "weir.components.ticks.count=3") as weir:
            status, sums = weir.wait(), weir.sums()
            check("--seconds ends it, and what failed is counted", sums["dead"] == 3 and
                  0.4 < sums["seconds"] < 30, (status, sums))
        with server.Server("f.conf", "--seconds", "0.3") as weir:
            check("for people the sums are on standard error", weir.wait() == 0 and
                  weir.printed() == "" and "accepted = " in weir.said(), weir.said())


def told_to_end(weir):
    """Again, until it counts: what comes right behind the first is the same one."""
    if weir.process.poll() is None:
        weir.send(signal.SIGTERM)
    return weir.process.poll() is not None


def check_drain(check):
    with server.folder():
        write(CHAIN.replace("out { ", "out { dawdle = handler, for = 20ms, "))
        with server.Server("f.conf", "--json", "-D", "weir.components.ticks.count=40") as weir:
            runs(PUBLISHED)
            status, sums = weir.stop(), weir.sums()
            parts = {part["name"]: part for part in sums["components"]}
            check("SIGTERM: what was accepted is handled first", status == 0 and
                  parts["out"]["handled"] == parts["ticks"]["published"] and sums["left"] == 0, sums)
        write(CHAIN.replace("out { ", "out { dawdle = handler, for = 1h, ") +
              "weir.server.stop-timeout = 300ms\n")
        with server.Server("f.conf", "--json", "-D", "weir.components.ticks.count=4") as weir:
            runs(PUBLISHED)
            began = time.monotonic()
            status, sums = weir.stop(), weir.sums()
            check("a stop that runs out of time ends with 1, and says what is left",
                  status == 1 and sums["end"] == "timeout" and sums["left"] > 0 and
                  "stop-timeout" in weir.said() and time.monotonic() - began < 30, sums)
        pathlib.Path("log").unlink()
        with server.Server("f.conf", "--json", "-D", "weir.server.stop-timeout=1h", "-D",
                           "weir.components.ticks.count=4") as weir:
            runs(PUBLISHED)
            weir.send(signal.SIGTERM)
            stopping = server.until(lambda: "ticks stop" in server.lines("log"))
            server.until(lambda: told_to_end(weir))
            status, sums = weir.wait(), weir.sums()
            check("a second SIGTERM stops now, ends with 1, and says so", stopping and status == 1
                  and sums["end"] == "cut short" and "stopped now" in weir.said(), sums)
        write(CHAIN)
        ran = subprocess.run(["timeout", "--preserve-status", "1", server.WEIR, "run", "f.conf",
                              "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             check=False, timeout=server.PATIENCE_S)
        check("timeout(1), which sends its signal twice, is no second one", ran.returncode == 0 and
              json.loads(ran.stdout)["end"] not in ("cut short", "timeout"), ran)


def check_flush(check):
    with server.folder():
        write(CHAIN.replace("out { ", "out { fail = flush, ") + "weir.server.stop-timeout = 500ms\n")
        with server.Server("f.conf", "-D", "weir.components.ticks.count=3") as weir:
            runs("out event")
            status = weir.stop()
            check("a sink that could not write what it had at the end is named, and it ends with 1",
                  status == 1 and "weir run: out: " in weir.said(), (status, weir.said()))


def check_while_starting(check):
    with server.folder():
        write(CHAIN.replace("out { ", "out { dawdle = start, for = 500ms, "))
        with server.Server("f.conf") as weir:
            server.until(lambda: "out start" in server.lines("log"))
            status = weir.stop()
            found = server.lines("log")
            check("SIGTERM while it starts: what was begun is undone", RUNS not in found and
                  places(found, "tear-down") == places(found, "init")[::-1], found)
            check("SIGTERM while it starts: nothing is left, it ends with 0", status == 0,
                  (status, weir.said()))
        write(CHAIN.replace("out { ", "out { dawdle = start, for = 1h, "))
        with server.Server("f.conf") as weir:
            server.until(lambda: "out start" in server.lines("log"))
            # Two that wait together are one: so again and again.
            server.until(lambda: weir.process.poll() is not None or weir.send(signal.SIGTERM))
            check("a start that hangs is left by a second SIGTERM", weir.wait() == 1, weir.said())


def affinity(process, thread):
    """What /proc says of the thread with that name."""
    for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
        if (task / "comm").read_text().strip() == thread:
            for line in (task / "status").read_text().splitlines():
                if line.startswith("Cpus_allowed_list:"):
                    return line.split()[1]
    return None


def threads_of_components():
    """By name; None while nobody answers."""
    status, said, _ = server.weir("admin", "--socket", "s.sock", "--json", "components")
    return {row["component"]: row["thread"] for row in json.loads(said)["rows"]} if status == 0 \
        else None


def check_cores(check):
    with server.folder():
        cores = "weir.engine.threads = [{ name = io, dispatchers = [io], cores = [%s] %s}, " \
                "{ name = work, dispatchers = [\"\"] }]\n"
        write(CHAIN + cores % ("0", ""))
        with server.Server("f.conf") as weir:
            runs()
            check("/proc confirms the core of a thread", affinity(weir.process, "io") == "0",
                  affinity(weir.process, "io"))
            every = affinity(weir.process, "work")
            check("and that another one is free to go", every == affinity(weir.process, "weir"),
                  every)
            check("it ends well", weir.stop() == 0, weir.said())
        write(CHAIN + "weir.admin.socket = ./s.sock\nweir.engine.threads = [{ name = io, dispatchers "
              "= [io], core = 0 }, { name = work, dispatchers = [\"\"], services = [clock, out], "
              "idle { strategy = park } }]\n")
        with server.Server("f.conf") as weir:
            runs()
            check("core = 0 says the same", affinity(weir.process, "io") == "0",
                  affinity(weir.process, "io"))
            threads = server.until(threads_of_components) or {}
            check("services says which components a thread has", threads.get("clock") == "work" and
                  threads.get("out") == "work" and threads.get("ticks") == "io", threads)
            check("and all is handled there", weir.stop() == 0, weir.said())
        write(CHAIN + cores % ("1023", ""))
        with server.Server("f.conf") as weir:
            runs()
            check("a core outside the mask is a warning", "level=warning" in weir.said() and
                  "1023" in weir.said(), weir.said())
            check("and its thread runs unpinned", affinity(weir.process, "io") == every,
                  affinity(weir.process, "io"))
            check("and all is handled", weir.stop() == 0, weir.said())
        write(CHAIN + cores % ("1023", ", core-required = true "))
        status, _, error = server.weir("run", "f.conf")
        check("with core-required it is an error, and nothing runs", status == 1 and
              "1023" in error and RUNS not in server.lines("log"), (status, error))


with tap.plan() as CHECK:
    check_order(CHECK)
    check_failures(CHECK)
    check_sums(CHECK)
    check_drain(CHECK)
    check_flush(CHECK)
    check_while_starting(CHECK)
    check_cores(CHECK)
