# SPDX-License-Identifier: Apache-2.0
"""`weir doctor` of servers that really have what its rules are about, each started from a small file;
of a healthy one; of looks that were saved; and what docs/guide/doctor.md says of it."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import threading

import server
import tap

CORES = len(os.sched_getaffinity(0))
TROUBLE = shutil.copyfile(os.environ.get("WEIR_TROUBLE", tap.BUILD / "tests/trouble.so"),
                          f"{server.PRIVATE}/trouble.so")
PLUGINS = tap.BUILD / "examples/plugins"
GUIDE = tap.ROOT / "docs/guide/doctor.md"
SOCKET = "a.sock"
TRIES = 6  # looks at a server until it shows what it has: the machine may be busy with others
SEVERITIES = ["note", "warning", "alert"]


def threads(count, idle="backoff"):
    return ", ".join(f'{{ name = w{n}, dispatchers = [""], idle = {idle} }}' for n in range(count))


IO = "{ name = io, dispatchers = [io] }"
# It goes on for ever, and does nothing.
CLOCK = "clock { type = timer, interval = 1h, thread = io }"
# More threads than cores want the lock at every event, and come back at once when it is held.
CROWD = f"""
weir.engine.threads = [{threads(4 * CORES, "yield")}, {IO}]
weir.engine.batch-max = 1
weir.engine.backoff {{ base-delay-micros = 1ns, max-delay-micros = 2ns, multiplier = 1.1 }}
weir.components {{
  {CLOCK}
  seed {{ type = generator, rate = 0, count = 64, thread = io, feed.slow-consumer = block }}
  work {{ type = trouble, instances = 64, feeds = [seed], echo = true }}
}}
"""
SPIN = f"""
weir.engine.threads = [{threads(CORES + 1, "busy-spin")}, {IO}]
weir.components {{ {CLOCK} }}
"""
# One event goes to and fro, and both threads go to sleep in between.
PING = f"""
weir.engine.threads = [{{ name = a, dispatchers = [a], idle = park }},
                       {{ name = b, dispatchers = [b], idle = park }}, {IO}]
weir.components {{
  start {{ type = timer, interval = 1h, thread = io }}
  ping {{ type = trouble, feeds = [start], dispatcher = a, to = pong }}
  pong {{ type = trouble, dispatcher = b, back = true }}
}}
"""
# Eight threads are told of every event, and the first ones take it all.
CALLS = f"""
weir.engine.threads = [{threads(8, "park")}, {IO}]
weir.components {{
  ticks {{ type = generator, rate = 2000, thread = io, feed.slow-consumer = block }}
  work {{ type = trouble, instances = 8, feeds = [ticks] }}
}}
"""
# All events have one key.
HOT = f"""
weir.engine.threads = [{threads(2)}, {IO}]
weir.flows.keyed {{ keys = bytes, targets = [work] }}
weir.components {{
  ticks {{ type = generator, rate = 2000, keys = 1, thread = io, feed.slow-consumer = block }}
  by-key {{ type = key-by, feeds = [ticks], pattern = "^\\\\S+", to = keyed }}
  work {{ type = trouble, instances = 4, sleep = 2ms, mailbox-max = 2000 }}
}}
"""
SLOW = f"""
weir.engine.threads = [{threads(1)}, {IO}]
weir.components {{
  ticks {{ type = generator, rate = 2000, thread = io,
          feed {{ slow-consumer = block, queue-max = 16 }} }}
  work {{ type = trouble, sleep = 5ms, feeds = [ticks], mailbox-max = 10 }}
}}
"""
LOSES = f"""
weir.engine.threads = [{threads(1)}, {IO}]
weir.components {{
  ticks {{ type = generator, rate = 2000, thread = io,
          feed {{ slow-consumer = drop-oldest, queue-max = 16 }} }}
  work {{ type = trouble, sleep = 5ms, feeds = [ticks], mailbox-max = 10 }}
}}
"""
# In front of a mailbox that drops, fills and grows; and one that refuses.
FLOOD = f"""
weir.engine.threads = [{threads(4)}, {IO}]
weir.components {{
  ticks {{ type = generator, rate = 2000, thread = io, feed.slow-consumer = block }}
  pass {{ type = fan-out, feeds = [ticks], targets = [drops] }}
  drops {{ type = trouble, sleep = 5ms, mailbox-max = 100, overflow = drop-newest }}
}}
"""
GROWS = f"""
weir.engine.threads = [{threads(4)}, {IO}]
weir.components {{
  ticks {{ type = generator, rate = 2000, thread = io, feed.slow-consumer = block }}
  work {{ type = trouble, sleep = 4ms, feeds = [ticks], mailbox-max = 40000 }}
}}
"""
REFUSES = f"""
weir.engine.threads = [{threads(2)}, {IO}]
weir.components {{
  ticks {{ type = generator, rate = 1000, thread = io, feed.slow-consumer = block }}
  pass {{ type = trouble, feeds = [ticks], to = work }}
  work {{ type = trouble, sleep = 5ms, mailbox-max = 10, overflow = fail }}
}}
"""
FAILS = f"""
weir.engine.threads = [{threads(1)}, {IO}]
weir.components {{
  ticks {{ type = generator, rate = 1000, thread = io, feed.slow-consumer = block }}
  work {{ type = trouble, feeds = [ticks], fail-every = 10 }}
}}
"""
# The first failure is its end.
ENDS = f"""
weir.engine.threads = [{threads(1)}, {IO}]
weir.components {{
  ticks {{ type = generator, rate = 100, thread = io, feed.slow-consumer = drop-oldest }}
  work {{ type = trouble, feeds = [ticks], fail-every = 10, on-failure = stop }}
}}
"""
STUCK = f"""
weir.engine.stuck-after = 200ms
weir.engine.threads = [{threads(1)}, {IO}]
weir.components {{
  ticks {{ type = generator, rate = 10, thread = io, feed.slow-consumer = block }}
  work {{ type = trouble, feeds = [ticks], sleep = 100s }}
}}
"""
# One event in 21 waits in its handler, for longer than a busy machine makes any other wait.
SPREAD = f"""
weir.engine {{ threads = [{threads(1)}, {IO}], latency-every = 2 }}
weir.components {{
  ticks {{ type = generator, rate = 2000, thread = io, feed.slow-consumer = block }}
  work {{ type = trouble, feeds = [ticks], every = 21, sleep = 10ms }}
}}
"""
# Twice as many threads as cores, which compute all the time.
COMPUTE = f"""
weir.engine.threads = [{threads(2 * CORES)}, {IO}]
weir.components {{
  {CLOCK}
  seed {{ type = generator, rate = 0, count = 2, thread = io, feed.slow-consumer = block }}
  work {{ type = trouble, instances = {4 * CORES}, feeds = [seed], echo = true, spin = 200us }}
}}
"""
QUOTA = f"""
weir.engine.threads = [{threads(2)}, {IO}]
weir.components {{
  {CLOCK}
  seed {{ type = generator, rate = 0, count = 2, thread = io, feed.slow-consumer = block }}
  work {{ type = trouble, instances = 2, feeds = [seed], echo = true, spin = 100us }}
}}
"""
# A file, and the findings that it must lead to: rule, the least severity, what it is about, and the
# key that the remedy names.
ILL = [
    ("a crowd of threads", CROWD, [
        ("too-many-threads", "warning", 'dispatcher ""', "thread-dispatcher-assignment"),
        ("contention", "warning", 'dispatcher ""', "thread-dispatcher-assignment"),
        ("back-off", "alert", 'dispatcher ""', "base-delay-micros")]),
    ("more threads that spin than cores", SPIN, [("spin", "alert", "engine", "idle = backoff")]),
    ("a sleep for every event", PING, [("parks", "warning", "thread a", "idle-spin-max")]),
    ("calls for too many threads", CALLS, [
        ("wake-ups", "warning", 'dispatcher ""', "thread-dispatcher-assignment")]),
    ("one hot key", HOT, [("hot-flow", "alert", "router keyed", "migrate")]),
    ("a subscriber that holds its source", SLOW, [
        ("slow-consumer", "alert", "feed ticks", "slow-consumer"),
        ("mailbox", "warning", "processor work", "mailbox-max")]),
    ("a subscriber that loses copies", LOSES, [("drops", "alert", "feed ticks", "queue-max")]),
    ("a mailbox that drops", FLOOD, [("drops", "alert", "processor drops", "overflow = block")]),
    ("a mailbox that grows in front of idle threads", GROWS, [
        ("growing", "warning", "processor work", "overflow = block"),
        ("utilisation", "alert", 'dispatcher ""', "instances")]),
    ("a mailbox that refuses", REFUSES, [("refusals", "alert", "engine", "mailbox-max")]),
    ("handlers that fail", FAILS, [
        ("failures", "alert", "processor work", "on-failure"),
        ("dead-letters", "alert", "engine", "dead-letters")]),
    ("a component that has ended of its failure", ENDS, [
        ("down", "alert", "component work", "weir admin errors")]),
    ("a handler that is stuck", STUCK, [("stuck", "alert", "processor work", "dispatcher")]),
    ("a few events that take long", SPREAD, [("spread", "alert", 'dispatcher ""', "dispatcher")]),
]


def doctor(*options):
    """(exit status, standard output, standard error)."""
    return server.weir("doctor", *options)


def look(*options):
    """(exit status, findings by rule and what)."""
    status, out, said = doctor("--json", *options)
    if status == 2:
        return status, {"": said}
    return status, {(f["rule"], f["what"]): f for f in json.loads(out)["findings"]}


def is_there(found, wanted):
    rule, least, what, key = wanted
    f = found.get((rule, what))
    return (f is not None and SEVERITIES.index(f["severity"]) >= SEVERITIES.index(least) and
            f["text"] and key in f["remedy"])


@contextlib.contextmanager
def running(text, prepare=None):
    """A server from this text, once it answers."""
    with server.folder():
        pathlib.Path("f.conf").write_text(
            f'weir.plugins = ["{TROUBLE}"]\nweir.admin.socket = {SOCKET}\n{text}',
            encoding="utf-8")
        with server.Server("f.conf", prepare=prepare) as weir:
            server.until(lambda: server.weir("admin", "-s", SOCKET, "health")[0] == 0 or
                         weir.process.poll() is not None)
            yield weir


def look_until(wanted, *options):
    """Looks until all of it is found; answers the last look."""
    for _ in range(TRIES):
        status, found = look("-s", SOCKET, "--seconds", "1.2", *options)
        if all(is_there(found, one) for one in wanted):
            break
    return status, found


def hurry(nice=-8):
    """Other load on the machine must not hide what a server does to itself."""
    with contextlib.suppress(OSError):
        os.setsid()  # the scheduler shares cores out among sessions first, then among threads
        os.nice(nice)
        pathlib.Path("/proc/self/autogroup").write_text(str(nice), encoding="ascii")


def check_ill(check):
    for name, text, wanted in ILL:
        with running(text, prepare=hurry) as weir:
            status, found = look_until(wanted)
            shown = json.dumps(list(found.values()), indent=1) + weir.said()[-2000:]
            for one in wanted:
                check(f"{name}: {one[0]} of {one[2]} is found, with what to change",
                      is_there(found, one), shown)
            alert = any(isinstance(f, dict) and f["severity"] == "alert" for f in found.values())
            check(f"{name}: the exit status is 1 if there is an alert", status == int(alert), shown)


def cores_used(path):
    """What a server had of the cores between the looks that were saved."""
    before, after = json.loads(pathlib.Path(path).read_text())["looks"]
    return ((after["process"]["cpu_ns"] - before["process"]["cpu_ns"]) /
            (after["engine"]["uptime_ns"] - before["engine"]["uptime_ns"]))


def check_compute(check):
    sentence = "more threads that compute than cores: oversubscribed of engine is found"
    wanted = [("oversubscribed", "alert", "engine", "thread-dispatcher-assignment")]
    with running(COMPUTE, prepare=lambda: hurry(-20)) as weir:
        _, found = look_until(wanted, "--save", "looks.json")
        used = cores_used("looks.json")
        if not is_there(found, wanted[0]) and used < 0.7 * CORES:
            check.skip(sentence, f"others keep the cores busy: it had {used:.1f} of {CORES}")
            return
        check(sentence, is_there(found, wanted[0]), (used, found, weir.said()[-2000:]))


@contextlib.contextmanager
def quota(share):
    """A cgroup that may have this share of a core, as a folder; None: none can be made."""
    v2 = pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists()
    folder = pathlib.Path(f"/sys/fs/cgroup{'' if v2 else '/cpu'}/weir-doctor-{os.getpid()}")
    try:
        folder.mkdir()
    except OSError:
        yield None
        return
    try:
        if v2:
            (folder / "cpu.max").write_text(f"{int(share * 1e5)} 100000")
        else:
            (folder / "cpu.cfs_quota_us").write_text(str(int(share * 1e5)))
        made = folder
    except OSError:
        made = None
    try:
        yield made
    finally:
        server.until(lambda: not (folder / "cgroup.procs").read_text().strip(), 5)
        with contextlib.suppress(OSError):
            folder.rmdir()


def check_quota(check):
    sentence = "a quota that is used up: throttling is found, with what to change"
    wanted = [("throttling", "alert", "process", "CPUQuota=")]
    with quota(0.2) as folder:
        if folder is None:
            check.skip(sentence, "no cgroup with a quota can be made here; its thresholds are "
                                 "tested with canned looks")
            return
        join = lambda: (folder / "cgroup.procs").write_text(str(os.getpid()))
        with running(QUOTA, prepare=join) as weir:
            _, found = look_until(wanted)
            check(sentence, is_there(found, wanted[0]), (found, weir.said()[-2000:]))


def check_ended(check):
    """What the server itself says of a component that has ended of its failure."""
    with running(ENDS) as weir:
        admin = lambda *words: server.weir("admin", "-s", SOCKET, *words)[1]
        down = server.until(lambda: re.search(r"component work +down .*has failed",
                                              admin("health")))
        check("a component that has ended of its failure: health says down, and of whom", down,
              (admin("health"), weir.said()[-2000:]))
        shown = admin("components")
        check("its phase is failed, that of the source is running",
              re.search(r"^work .*\bfailed\b", shown, re.M) and
              re.search(r"^ticks .*\brunning\b", shown, re.M), shown)
        check("errors say that it ended, and why", "on-failure = stop" in admin("errors"),
              admin("errors"))


def check_healthy(check):
    conf = (tap.ROOT / "examples/quickstart/weir.conf").read_text(encoding="utf-8")
    for plugin in PLUGINS.glob("*.so"):
        shutil.copyfile(plugin, f"{server.PRIVATE}/{plugin.name}")
    conf = re.sub(r"plugins = \[counter, risk\]", "", conf)
    conf = re.sub(r"plugin-path = .*", "", conf).replace("/tmp/weir-quickstart.log", "out.log")
    conf = re.sub(r"admin \{.*", "", conf)
    names = ", ".join(f'"{server.PRIVATE}/{name}.so"' for name in ("counter", "risk"))
    with running(conf + f"\nweir.plugins = [{names}]\n", prepare=hurry) as weir:
        # Where others keep the cores busy, events do wait for them now and then; and a thread that
        # was woken comes late, when another has taken its work.
        loaded = os.getloadavg()[0] > CORES
        for _ in range(TRIES):
            status, found = look("-s", SOCKET)
            if loaded:
                found = {k: f for k, f in found.items() if k[0] not in ("spread", "wake-ups")}
            if not found:
                break
        check("of a healthy server (the quickstart) there is nothing to say" +
              (", but for how late the busy machine makes it" if loaded else ""), not found,
              (found, weir.said()[-2000:]))
        if not loaded:
            status, out, _ = doctor("-s", SOCKET)
            check("and that is said, with status 0",
                  status == 0 and out.startswith("nothing to say"), out)


def check_snapshots(check):
    with running(FAILS):
        wanted = [("failures", "alert", "processor work", "on-failure")]
        _, found = look_until(wanted, "--save", "two.json")
        status, again = look("--snapshot", "two.json")
        check("what was saved says the same later", status == 1 and is_there(again, wanted[0]) and
              {k: f["text"] for k, f in found.items()} == {k: f["text"] for k, f in again.items()},
              (found, again))
        looks = json.loads(pathlib.Path("two.json").read_text())["looks"]
        check("nothing but the file is left", sorted(p.name for p in pathlib.Path().glob("two*")) ==
              ["two.json"], list(pathlib.Path().iterdir()))
        for name, document in zip(("a.json", "b.json"), looks):
            pathlib.Path(name).write_text(json.dumps(document))
        check("two files are two looks", look("--snapshot", "a.json", "b.json")[1] == again, "")
        check("two looks at one moment have no rates, and are borne",
              doctor("--snapshot", "b.json", "b.json")[0] == 0, "")
        status, found = look("--snapshot", "b.json")
        check("one document is about the time since the start",
              status == 1 and is_there(found, wanted[0]), found)
        status, out, _ = doctor("--snapshot", "b.json", "a.json")
        check("the later one first is seen as a restart, and said", "started anew" in out, out)
        # Cut at any place, it is refused and not believed.
        text = pathlib.Path("two.json").read_text()
        for cut in (0, 1, len(text) // 2, len(text) - 1):
            pathlib.Path("cut.json").write_text(text[:cut])
            status, _, said = doctor("--snapshot", "cut.json")
            check(f"a file that is cut off ({'nothing' if cut == 0 else 'something'} of it is "
                  "there) is refused, with the place", status == 2 and "cut.json:" in said, said)
        for text in ("[]", "{}", '{"looks": []}', '{"looks": [{}, {}]}', '{"engine": 7}'):
            pathlib.Path("odd.json").write_text(text)
            status, _, said = doctor("--snapshot", "odd.json")
            check(f"{text} is no look, and that is said", status == 2 and "no look" in said, said)
        status, _, said = doctor("--snapshot", "/dev/zero")
        check("a file without end is not read for ever", status == 2 and said, said)
        status, _, said = doctor("-s", SOCKET, "--seconds", "0.1", "--save", "/no/where/x")
        check("a place that cannot be written is named", status == 2 and "/no/where/x" in said, said)
        status, out, _ = doctor("-s", SOCKET, "--seconds", "0.1", "--machine", "--json")
        both = json.loads(out)
        check("with --machine both are looked at", both["server"]["findings"] and
              both["machine"], out)


class Liar:
    """Answers on the socket as no weir does."""

    def __init__(self, answer):
        self.answer = answer
        self.door = socket.socket(socket.AF_UNIX)
        self.door.bind("liar.sock")
        self.door.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                guest, _ = self.door.accept()
                with guest:
                    guest.recv(4096)
                    guest.sendall(self.answer)

    def close(self):
        self.door.close()
        os.unlink("liar.sock")


def check_refusals(check):
    with server.folder():
        status, _, said = doctor()
        check("without a server it says so, and ends with 2", status == 2 and "no weir" in said and
              "--machine" in said, said)
        status, _, said = doctor("-s", "none.sock")
        check("a socket that is not there is named", status == 2 and "none.sock" in said, said)
        for words in (["--seconds", "0"], ["--seconds", "x"], ["--secons", "1"], ["word"],
                      ["--snapshot"], ["--snapshot", "a", "b", "c"],
                      ["--snapshot", "a", "--socket", "b"], ["--socket", "a", "--name", "b"]):
            status, out, said = doctor(*words)
            check(f"weir doctor {' '.join(words)} is wrong usage", status == 2 and said and not out,
                  said)
        for answer in (b"", b"\n", b"[]\n", b"{}\n", b'{"rows": [{"json": "[]"}]}\n',
                       b'{"rows": [], "error": "no command \'metrics json\'"}\n', b"\xff\xfe\n"):
            liar = Liar(answer)
            status, out, said = doctor("-s", "liar.sock", "--seconds", "0.1")
            check(f"an answer of {answer[:20]!r} is no look, and that is said",
                  status == 2 and said and not out, said)
            liar.close()


def check_guide(check):
    table = server.weir("doctor", "--rules")[1]
    guide = GUIDE.read_text(encoding="utf-8")
    check("the guide has the table of all rules as it is (weir doctor --rules)", table in guide,
          table)
    rules = re.findall(r"^\| `([a-z-]+)`", table, re.MULTILINE)
    headings = " ".join(line for line in guide.splitlines() if line.startswith("### "))
    missing = [rule for rule in rules if f"`{rule}`" not in headings]
    check("and a section on each", rules and not missing, missing)
    tested = {one[0] for _, _, wanted in ILL for one in wanted}
    tested |= {"oversubscribed", "throttling"}
    check("every rule is seen in a server that has the problem", set(rules) == tested,
          set(rules) ^ tested)


with tap.plan() as report:
    check_guide(report)
    check_refusals(report)
    check_snapshots(report)
    check_ill(report)
    check_ended(report)
    check_compute(report)
    check_quota(report)
    check_healthy(report)
