# SPDX-License-Identifier: Apache-2.0
"""What pages that are left open cost: a hundred clients of /events for a minute (or
WEIR_STREAM_SECONDS, an hour at night). The server does not grow, takes less than 5 % of a core for
them, and nothing at all when nobody listens."""
import os
import pathlib
import select
import socket
import sys
import time

import tap
from admin_support import Server, until

CLIENTS = int(os.environ.get("WEIR_STREAM_CLIENTS", "100"))
SECONDS = float(os.environ.get("WEIR_STREAM_SECONDS", "60"))
WARM_UP_S = 8


def thread_of(pid, name, patience=10):
    """The folder of /proc of that thread, which gives itself its name when it begins to run."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        for folder in pathlib.Path(f"/proc/{pid}/task").iterdir():
            if (folder / "comm").read_text().strip() == name:
                return folder
        time.sleep(0.005)
    sys.exit(f"no thread {name}")


def cpu_seconds(folder):
    """As the scheduler counts: what `stat` has is sampled by ticks, and misses brief turns."""
    return int((folder / "schedstat").read_text().split()[0]) / 1e9


def switches(folder):
    return sum(int(line.split()[1]) for line in (folder / "status").read_text().splitlines()
               if "ctxt_switches" in line)


def resident_bytes(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


class Crowd:
    """Clients of the stream that read and throw away."""

    def __init__(self, server, count):
        self.epoll = select.epoll()
        self.sockets = {}
        self.frames = 0
        self.scratch = bytearray(1 << 20)
        for _ in range(count):
            s = socket.create_connection(server.address, timeout=20)
            s.sendall(f"GET /events HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
            s.setblocking(False)
            self.sockets[s.fileno()] = s
            self.epoll.register(s.fileno(), select.EPOLLIN)
        self.first = next(iter(self.sockets))

    def read_for(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            for descriptor, _ in self.epoll.poll(left):
                try:
                    size = self.sockets[descriptor].recv_into(self.scratch)
                except BlockingIOError:
                    continue
                if size == 0:
                    sys.exit("a stream has ended")
                if descriptor == self.first:
                    self.frames += self.scratch.count(b"event: figures", 0, size)

    def close(self):
        for s in self.sockets.values():
            s.close()
        self.epoll.close()


def quiet(thread):
    """Whether it sleeps for a second: other tests may run beside, so one of several tries."""
    def asleep():
        before = switches(thread)
        select.select([], [], [], 1)
        return switches(thread) == before
    return any(asleep() for _ in range(5))


with tap.plan() as check:
    with Server(http__port=0, http__stream_clients_max=CLIENTS) as one:
        one.tell("crowd")
        pid = one.process.pid
        thread = thread_of(pid, "weir-http")
        check("while nobody listens the thread sleeps", quiet(thread))
        crowd = Crowd(one, CLIENTS)
        crowd.read_for(WARM_UP_S)
        row = one.ask("admin")["rows"][1]
        check(f"{CLIENTS} clients listen", row["streams"] == CLIENTS, row)
        size, cpu, frames, began = (resident_bytes(pid), cpu_seconds(thread), crowd.frames,
                                    time.monotonic())
        crowd.read_for(SECONDS)
        spent = time.monotonic() - began
        cpu = (cpu_seconds(thread) - cpu) / spent
        grown = resident_bytes(pid) - size
        rate = (crowd.frames - frames) / spent
        print(f"# {cpu:.2%} of a core, {rate:.2f} frames a second, {grown} bytes more, {size} bytes")
        # Where others keep the cores busy the server comes late, and so does who listens.
        loaded = os.getloadavg()[0] > os.cpu_count()
        check("each hears four frames a second" + (", as far as a busy machine lets it" if loaded
              else ""), (1.0 if loaded else 3.0) < rate < 4.2, rate)
        check("all of them cost less than 5 % of a core", cpu < 0.05, f"{cpu:.2%}")
        check("the server does not grow", grown <= 512 << 10, f"{grown} bytes in {spent:.0f} s")
        crowd.close()
        check("when they have gone their places are free",
              until(lambda: one.ask("admin")["rows"][1]["streams"] == 0))
        check("and the thread sleeps again", quiet(thread))
    check("it ends as it should", one.process.returncode == 0)
