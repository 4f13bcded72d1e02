# SPDX-License-Identifier: Apache-2.0
"""`weir run` under a service manager: readiness, reload, the watchdog, by datagrams; and SIGHUP,
all or nothing."""
import os
import pathlib
import signal
import socket
import threading

import server
import tap

PLUGIN = f'weir.plugins = ["{server.RECORDER}"]\n'
BASE = PLUGIN + """
weir.engine.threads = [{ name = io, dispatchers = [io] }, { name = work, dispatchers = [""] }]
weir.components {
  ticks { type = recorder-source, log = log, thread = io }
  out { type = recorder-sink, log = log, feeds = [ticks] }
}
"""
MORE = BASE + "weir.components.late { type = recorder-sink, log = log, feeds = [ticks] }\n"


def write(text, name="f.conf"):
    pathlib.Path(name).write_text(text, encoding="utf-8")


class Manager:
    """Receives what a service tells its manager, as lines."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.datagrams = []
        threading.Thread(target=self.receive, daemon=True).start()

    def receive(self):
        while True:
            try:
                self.datagrams.append(self.socket.recv(4096).decode().split("\n"))
            except OSError:
                return

    def count(self, line):
        return sum(line in datagram for datagram in self.datagrams)

    def hears(self, line, times=1, patience=server.PATIENCE_S):
        return server.until(lambda: self.count(line) >= times, patience)


def check_notify(check):
    for name, address, said in (("a path", "notify.sock", None),
                                ("an abstract one", f"\0weir-test-{os.getpid()}",
                                 f"@weir-test-{os.getpid()}")):
        with server.folder() as folder:
            manager = Manager(str(folder / address) if said is None else address)
            write(BASE)
            where = said or str(folder / address)
            with server.Server("f.conf", environment={"NOTIFY_SOCKET": where}) as weir:
                check(f"{name}: READY=1 when all have passed start_complete",
                      manager.hears("READY=1") and "ticks start-complete" in server.lines("log"),
                      manager.datagrams)
                first = list(manager.datagrams)
                check(f"{name}: and not before", len(first) == 1, first)
                weir.stop()
                check(f"{name}: STOPPING=1", manager.hears("STOPPING=1"), manager.datagrams)
                check(f"{name}: no watchdog that nobody asked for", manager.count("WATCHDOG=1") == 0,
                      manager.datagrams)
    with server.folder():
        write(BASE)
        for bad in ("relative", "/absent/socket", "@" + "x" * 200):
            status, _, error = server.weir("run", "f.conf", "--seconds", "0.1",
                                           environment={"NOTIFY_SOCKET": bad})
            check(f"a socket that cannot be used ({bad[:16]}) is told, and it runs all the same",
                  status == 0 and "NOTIFY_SOCKET" in error, (status, error))


def check_watchdog(check):
    with server.folder() as folder:
        manager = Manager(str(folder / "s"))
        write(BASE)
        environment = {"NOTIFY_SOCKET": str(folder / "s"), "WATCHDOG_USEC": "200000"}
        with server.Server("f.conf", environment=environment) as weir:
            check("the watchdog is fed again and again", manager.hears("WATCHDOG=1", 5),
                  manager.datagrams)
            weir.send(signal.SIGHUP)
            check("a reload is told as one", manager.hears("RELOADING=1") and
                  manager.hears("READY=1", 2), manager.datagrams)
            fed = manager.count("WATCHDOG=1")
            check("and feeding goes on after it", manager.hears("WATCHDOG=1", fed + 5),
                  manager.datagrams)
            check("it stops well", weir.stop() == 0, weir.said())
    with server.folder() as folder:
        manager = Manager(str(folder / "s"))
        write(BASE.replace("out { ", "out { dawdle = handler, for = 1h, "))
        environment = {"NOTIFY_SOCKET": str(folder / "s"), "WATCHDOG_USEC": "200000"}
        with server.Server("f.conf", "-D", "weir.components.ticks.count=1",
                           environment=environment) as weir:
            manager.hears("READY=1")
            slow = server.until(lambda: any("does not answer" in line for datagram in
                                            manager.datagrams for line in datagram))
            fed = manager.count("WATCHDOG=1")
            check("a dispatcher that hangs is named", slow, manager.datagrams)
            check("and the watchdog is fed no more", not manager.hears("WATCHDOG=1", fed + 1, 1),
                  manager.datagrams)
        with server.Server("f.conf", environment={**environment, "WATCHDOG_PID": "1"}) as weir:
            before = manager.count("WATCHDOG=1")
            manager.hears("READY=1", 2)
            check("a watchdog that is for another process is not fed",
                  not manager.hears("WATCHDOG=1", before + 1, 0.5), manager.datagrams)
            weir.stop()


def reloads(weir, times=1):
    return server.until(lambda: weir.said().count("reloaded: ") +
                        weir.said().count("reload refused") >= times)


def check_reload(check):
    with server.folder():
        write(BASE)
        with server.Server("f.conf") as weir:
            server.until(lambda: "ticks start-complete" in server.lines("log"))
            write(MORE)
            weir.send(signal.SIGHUP)
            check("SIGHUP: a component that is new is added, and only that",
                  reloads(weir, 1) and "late start-complete" in server.lines("log") and
                  server.lines("log").count("out init") == 1 and
                  "reloaded: 1 added, 0 removed, 0 wait" in weir.said(), weir.said())
            write(BASE)
            weir.send(signal.SIGHUP)
            check("SIGHUP: one that is gone is stopped and torn down", reloads(weir, 2) and
                  "late tear-down" in server.lines("log") and
                  "reloaded: 0 added, 1 removed, 0 wait" in weir.said(), weir.said())
            write(BASE.replace("out { ", "out { mailbox-max = 99, "))
            weir.send(signal.SIGHUP)
            check("what cannot change while it runs waits for a restart, with its name",
                  reloads(weir, 3) and "0 added, 0 removed, 1 wait" in weir.said() and
                  "key=weir.components.out.mailbox-max" in weir.said(), weir.said())
            weir.send(signal.SIGHUP)
            check("and still waits at the next reload", reloads(weir, 4) and
                  weir.said().count("0 added, 0 removed, 1 wait") == 2, weir.said())
            write(MORE.replace("late { type = recorder-sink", "late { type = recorder-snk"))
            weir.send(signal.SIGHUP)
            check("a file with a mistake changes nothing, and the mistake is told",
                  reloads(weir, 5) and "reload refused" in weir.said() and
                  "'recorder-snk' is no type" in weir.said() and
                  server.lines("log").count("late init") == 1, weir.said())
            write(MORE + "weir.components.bad { type = recorder-sink, log = log, fail = start }\n"
                  "weir.components.late.after = []\nweir.components.bad.after = [late]\n")
            before = server.lines("log").count("late tear-down")
            weir.send(signal.SIGHUP)
            check("a new component that does not start: those added with it go again",
                  reloads(weir, 6) and weir.said().count("reload refused") == 2 and
                  server.lines("log").count("late init") == 2 and
                  server.lines("log").count("late tear-down") == before + 1, weir.said())
            write(BASE.replace('dispatchers = [""] }]', 'dispatchers = [""] }, '
                                                        '{ name = more, dispatchers = [more] }]') +
                  "weir.components.m { type = recorder-sink, log = log, dispatcher = more, "
                  "thread = more, feeds = [ticks] }\n")
            weir.send(signal.SIGHUP)
            check("a component may come with a thread of its own", reloads(weir, 7) and
                  "m start-complete" in server.lines("log"), weir.said())
            write(BASE + "weir.components.key { type = recorder-processor, log = log, to = flows }\n"
                  "weir.components.work { type = recorder-processor, log = log, instances = 2 }\n"
                  "weir.flows.flows.targets = [work]\n"
                  "weir.engine.threads += { name = more, dispatchers = [more] }\n")
            weir.send(signal.SIGHUP)
            check("a router comes with its targets, before who sends to it", reloads(weir, 8) and
                  "reloaded: 3 added, 1 removed" in weir.said(), weir.said())
            check("and after all that it stops well", weir.stop() == 0, weir.said())
            found = server.lines("log")
            check("every init had its tear-down", sorted(line.split()[0] for line in found if
                  line.endswith(" init")) == sorted(line.split()[0] for line in found if
                                                    line.endswith(" tear-down")), found)


ANEW = """weir.plugins = ["%s"]
weir.engine.threads = [{ name = main, dispatchers = [""] }]
weir.components {
  ticks { type = recorder-source, log = log, count = 1000 }
  out { type = recorder-sink, log = log, feeds = [ticks] }
  key { type = recorder-processor, log = log, to = out }
}
""" % server.RECORDER


def told(weir, times):
    return reloads(weir, times) and weir.said().splitlines()[-1]


def check_anew(check):
    """Keys of a component's own type: it begins anew where it is, and nothing else does."""
    with server.folder():
        write(ANEW)
        with server.Server("f.conf") as weir:
            server.until(lambda: "ticks start-complete" in server.lines("log"))
            write(ANEW.replace("key { ", "key { nested.depth = 3, "))
            weir.send(signal.SIGHUP)
            line = told(weir, 1)
            found = server.lines("log")
            check("a component with other keys of its type begins anew",
                  line and "0 added, 0 removed, 0 wait for a restart, 1 began anew" in line and
                  found.count("key init") == 2 and found.count("key tear-down") == 1, weir.said())
            check("and nobody else does", found.count("out init") == 1 and
                  found.count("ticks init") == 1, found)
            weir.send(signal.SIGHUP)
            line = told(weir, 2)
            check("the same file again changes nothing", line and "0 began anew" in line and
                  "0 wait" in line and server.lines("log").count("key init") == 2, weir.said())
            write(ANEW.replace("key { ", "key { nested.depth = 4, mailbox-max = 99, "))
            weir.send(signal.SIGHUP)
            line = told(weir, 3)
            check("with a key that cannot change, all of its keys wait", line and
                  "2 wait for a restart, 0 began anew" in line, weir.said())
            write(ANEW.replace("key { ", "key { nested.depth = 5, ").replace(
                "out { ", "out { fail = start, "))
            weir.send(signal.SIGHUP)
            line = told(weir, 4)
            found = server.lines("log")
            check("one that will not start as it should: all go back to what they had",
                  line and "reload refused" in line and "start failed" in line, weir.said())
            check("and run", found.count("out start-complete") == 2 and
                  found.count("key start-complete") >= 2, found)
            write(ANEW.replace("to = out", "to = new") +
                  "weir.components.new { type = recorder-sink, log = log }\n")
            weir.send(signal.SIGHUP)
            line = told(weir, 5)
            check("a target may come with who is to send to it", line and
                  "1 added, 0 removed, 0 wait for a restart, 1 began anew" in line, weir.said())
            write(ANEW)
            weir.send(signal.SIGHUP)
            line = told(weir, 6)
            check("and go with who sent to it", line and
                  "0 added, 1 removed, 0 wait for a restart, 1 began anew" in line, weir.said())
            check("and after all that it stops well", weir.stop() == 0, weir.said())
            found = server.lines("log")
            check("every init had its tear-down", sorted(line.split()[0] for line in found if
                  line.endswith(" init")) == sorted(line.split()[0] for line in found if
                                                    line.endswith(" tear-down")), found)


def check_rotated(check):
    """As logrotate does it: rename, SIGHUP, and the old file is its own."""
    with server.folder():
        write("weir.components { t { type = timer, interval = 1h, delay = 1h }\n"
              "  out { type = file-sink, path = out.txt, feeds = [t] } }\n")
        with server.Server("f.conf") as weir:
            server.until(lambda: os.path.exists("out.txt") and "it runs" in weir.said())
            for number in (1, 2):
                os.rename("out.txt", f"out.txt.{number}")
                write("weir.components { broken\n") if number == 2 else None
                weir.send(signal.SIGHUP)
                check(f"SIGHUP: a file that was renamed is opened anew at once, time {number}",
                      server.until(lambda: os.path.exists("out.txt")) and reloads(weir, number),
                      weir.said())
            check("also if the reload is refused", "reload refused" in weir.said(), weir.said())
            check("and it stops well", weir.stop() == 0, weir.said())


def check_early(check):
    with server.folder():
        write(BASE.replace("out { ", "out { dawdle = start, for = 300ms, "))
        with server.Server("f.conf") as weir:
            server.until(lambda: "out start" in server.lines("log"))
            weir.send(signal.SIGHUP)
            check("a SIGHUP that comes while it starts is answered when it runs", reloads(weir),
                  weir.said())
            check("and it stops well", weir.stop() == 0, weir.said())


with tap.plan() as CHECK:
    check_early(CHECK)
    check_notify(CHECK)
    check_watchdog(CHECK)
    check_reload(CHECK)
    check_anew(CHECK)
    check_rotated(CHECK)
