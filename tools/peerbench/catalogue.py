# SPDX-License-Identifier: Apache-2.0
"""The peers, how each is built and called, and the rows: who runs which workload in which variants.

A variant is a setting of the peer: the race tries all of them and keeps the best, because to be
ahead of a badly tuned peer is worth nothing. A peer is in a row if its library has a sensible way
to do the same work.
"""
import dataclasses

C = ("cc", "-O3", "-march=native", "-std=gnu11")
CXX = ("g++", "-O3", "-march=native", "-std=c++17", "-DNDEBUG")
JARS = "/usr/share/java"
JAVA = ("java", "-XX:+UseParallelGC", "-Xms2g", "-Xmx2g")

# {bin}: where programs go; {src}: bench/peers.
HANDOVER = ("cc", "-O2", "-std=gnu11", "-o", "{bin}/handover", "{src}/handover.c", "-lpthread")
BUILD_TBB = (*CXX, "-o", "{bin}/tbb", "{src}/tbb.cpp", "{src}/tbb_flows.cpp", "-ltbb", "-lpthread")


@dataclasses.dataclass(frozen=True)
class Peer:
    """One library: its Debian packages, the command that builds its program, and the one that runs
    it, which is followed by WORKLOAD THREADS SCALE VARIANT."""
    packages: tuple
    build: tuple
    command: tuple
    says: str
    pkg_config: str = ""
    beside: bool = False  # it runs and is shown, but does less than the others: no rival


PEERS = {
    "tbb": Peer(("g++", "libtbb-dev"), BUILD_TBB, ("{bin}/tbb",), says="oneTBB's flow graph"),
    "tbb-tasks": Peer(("g++", "libtbb-dev"), BUILD_TBB, ("{bin}/tbb",),
                      says="actors of our own on its tasks"),
    "tbb-inline": Peer(("g++", "libtbb-dev"), BUILD_TBB, ("{bin}/tbb",), beside=True,
                       says="lightweight: runs in the sender"),
    "caf": Peer(("g++", "libcaf-dev"),
                (*CXX, "-o", "{bin}/caf", "{src}/caf.cpp", "-lcaf_core", "-lpthread"),
                ("{bin}/caf",), says="C++ Actor Framework"),
    "go": Peer(("golang-go",),
               ("go", "build", "-o", "{bin}/go_peer", "{src}/go_peer.go", "{src}/go_flows.go"),
               ("{bin}/go_peer",), says="goroutines and channels"),
    "erlang": Peer(("erlang-base",),
                   ("erlc", "+inline", "-o", "{bin}", "{src}/erlang_peer.erl"),
                   ("erl", "-noshell", "-noinput", "+S", "{threads}:{threads}", "+sbwt", "{sbwt}",
                    "+P", "4000000", "-pa", "{bin}", "-run", "erlang_peer", "main"),
                   says="Erlang/OTP processes"),
    "glib": Peer(("gcc", "libglib2.0-dev", "pkg-config"),
                 (*C, "-o", "{bin}/glib", "{src}/glib.c"), ("{bin}/glib",), pkg_config="glib-2.0",
                 says="GAsyncQueue, GThreadPool"),
    "disruptor": Peer(("default-jdk-headless", "libdisruptor-java"),
                      ("javac", "-cp", f"{JARS}/disruptor.jar", "-d", "{bin}/java",
                       "{src}/Peer.java", "{src}/DisruptorPeer.java"),
                      (*JAVA, "-cp", "{bin}/java:" + f"{JARS}/disruptor.jar", "DisruptorPeer"),
                      says="LMAX Disruptor on the JVM"),
    "jctools": Peer(("default-jdk-headless", "libjctools-java"),
                    ("javac", "-cp", f"{JARS}/jctools-core.jar", "-d", "{bin}/java",
                     "{src}/Peer.java", "{src}/JctoolsPeer.java"),
                    (*JAVA, "-cp", "{bin}/java:" + f"{JARS}/jctools-core.jar", "JctoolsPeer"),
                    says="JCTools' queues on the JVM"),
    "moodycamel": Peer(("g++", "libconcurrentqueue-dev"),
                       (*CXX, "-o", "{bin}/moodycamel", "{src}/moodycamel.cpp", "-lpthread"),
                       ("{bin}/moodycamel",), says="moodycamel::ConcurrentQueue"),
    "libuv": Peer(("gcc", "libuv1-dev"),
                  (*C, "-o", "{bin}/libuv", "{src}/libuv.c", "-luv", "-lpthread"),
                  ("{bin}/libuv",), says="libuv's loop and timers"),
    "libev": Peer(("gcc", "libev-dev"),
                  (*C, "-o", "{bin}/libev", "{src}/libev.c", "-lev", "-lpthread"),
                  ("{bin}/libev",), says="libev's loop and timers"),
}


@dataclasses.dataclass(frozen=True)
class Row:
    """One race: a workload with so many threads. `ours` are variants of weir-bench, the first is
    compared with the peers; one that weir-bench does not have is left out, and said so."""
    name: str
    workload: str
    threads: int
    metrics: tuple  # the first decides which variant of a peer is its best
    ours: tuple
    peers: dict     # name: variants

    @property
    def title(self):
        return f"{self.name}@{self.threads}"


RATE, EACH = ("events_per_s",), ("ns_per_event",)
CAF = ("stealing", "sharing")
CAF_EXTERNAL = ("stealing", "sharing", "stealing-limited", "sharing-limited")
ERLANG = ("sleepy-off", "spinning-off", "spinning-on")
GO_BOXES = ("buffer-64", "buffer-1024", "buffer-4096", "buffer-16384")
TBB = {"tbb": ("flow",), "tbb-tasks": ("strand",), "tbb-inline": ("flow-light",)}
TBB_EDGES = {**TBB, "tbb": ("flow", "edges")}
TBB_EXTERNAL = {"tbb": ("flow", "flow-limited", "joined"),
                "tbb-tasks": ("strand", "strand-limited", "strand-joined"),
                "tbb-inline": ("flow-light",)}
RINGS = ("1024", "8192", "65536")
DISRUPTOR_SINGLE = tuple(f"{wait}-{ring}{how}" for how in ("", "-event")
                         for wait in ("busy", "yield") for ring in RINGS)
DISRUPTOR_BATCH = tuple(f"{wait}-{ring}-batch32" for wait in ("busy", "yield") for ring in RINGS)
OLDER = ("blocking-queue", "shared-queue", "held-lock")  # the designs that weir replaced
GLIB = ("plain", "limited")
# W14: threads, and places of a channel. The table of our own is faster than a map: one with it.
GO_FLOWS = tuple(f"p{procs}-b{places}" for procs in (1, 2, 3) for places in (64, 1024, 8192))
TBB_FLOWS = ("", "-limited", "-joined", "-limited-joined")
TBB_TOKENS = ("pipeline-8", "pipeline-32", "pipeline-128")


def two_threads(threads):
    """These two have a thread for each side, or nothing."""
    return {"disruptor": ("busy-1024", "yield-1024"), "glib": ("plain",)} if threads == 2 else {}


def make_rows():
    for t in (1, 2):
        yield Row("w1", "w1", t, EACH, ("weir", "floor", *OLDER),
                  {**TBB_EDGES, "go": ("buffer-0", "buffer-1", "buffer-64"),
                   "caf": CAF, "erlang": ERLANG, **two_threads(t)})
    yield Row("w2-external", "w2-external", 1, RATE,
              ("weir", "weir-64k", "weir-block", "floor"),
              {"disruptor": DISRUPTOR_SINGLE, "glib": GLIB, **TBB_EXTERNAL,
               "caf": CAF_EXTERNAL})
    # As with the Disruptor, the larger ring is the faster one.
    yield Row("w2-external-batch", "w2-external", 1, RATE, ("weir-batch-64k", "weir-batch"),
              {"disruptor": DISRUPTOR_BATCH})
    for t in (1, 2):
        yield Row("w2-inside", "w2-inside", t, RATE, ("weir", "floor"),
                  {"go": GO_BOXES, "caf": CAF, "erlang": ERLANG, **TBB})
    for t in (1, 2):
        yield Row("w3-1", "w3-1", t, EACH, ("weir", "floor"),
                  {**TBB_EDGES, "go": ("buffer-0", "buffer-1", "buffer-64"), "caf": CAF,
                   "erlang": ERLANG})
    for t in (1, 2):
        yield Row("w3-100", "w3-100", t, EACH, ("weir", "floor"),
                  {"go": ("buffer-1", "buffer-16", "buffer-128"), **TBB, "caf": CAF,
                   "erlang": ERLANG})
    for t in (1, 2):
        yield Row("w4", "w4", t, ("seconds", "bytes_each"), ("weir", "weir-at-once", "floor"),
                  {"go": ("buffer-0", "buffer-1", "gc-off-0", "gc-off-1"),
                   **TBB, "caf": CAF, "erlang": ("sleepy-off",)})
    for t in (1, 2, 4, 8, 16):
        yield Row("w5-external", "w5-external", t, RATE, ("weir", "floor", *OLDER),
                  {**TBB_EXTERNAL, "glib": GLIB, "caf": CAF_EXTERNAL})
    for t in (1, 2, 4, 8, 16):
        yield Row("w5-inside", "w5-inside", t, RATE, ("weir",),
                  {"go": GO_BOXES, **TBB, "caf": CAF, "erlang": ERLANG})
    # Only such as really park: stealing threads of CAF look every so often.
    yield Row("w6-parked", "w6-parked", 1, ("p50_ns", "p99_ns"), ("weir", "weir-park", "floor"),
              {"glib": ("plain",), "caf": ("sharing",), "libev": ("",), "libuv": ("",),
               "go": ("buffer-16",), "disruptor": ("block-1024",)})
    yield Row("w6-spinning", "w6-spinning", 1, ("p50_ns", "p99_ns"), ("weir", "floor"),
              {"disruptor": ("busy-1024", "yield-1024"), "go": ("buffer-16",)})
    for name in ("w7-1", "w7-4"):
        yield Row(name, name, 1, RATE, ("weir", *(("weir-ring",) if name == "w7-1" else ()), "floor"),
                  {"moodycamel": ("token", "token-limited"), "glib": GLIB,
                   "jctools": ("array", "array-drain",
                               *(("linked-drain",) if name == "w7-4" else ())),
                   "disruptor": tuple(f"busy-{ring}" for ring in RINGS)})
        yield Row(f"{name}-batch", name, 1, RATE, ("weir-batch",),
                  {"moodycamel": ("bulk", "bulk-limited"),
                   "disruptor": tuple(f"busy-{ring}-batch32" for ring in RINGS)})
    yield Row("w8", "w8", 1, ("schedule_per_s", "cancel_per_s", "fire_cpu_ms"), ("weir",),
              {"libev": ("",), "libuv": ("",), "go": ("buffer-1", "gc-off-1"),
               "erlang": ("sleepy-off", "spinning-off"), "glib": ("plain",)})
    yield Row("w9-idle", "w9-idle", 8, ("cpu_ms",), ("weir", "floor"),
              {"glib": ("plain",), "caf": CAF, "go": ("buffer-16",), "erlang": ("sleepy-off",),
               "disruptor": ("block-1024",)})
    for n in (1, 10, 1000):
        for t in (1, 2):
            each = () if n == 1000 or n == t else tuple(f"yield-{ring}-each" for ring in RINGS)
            yield Row(f"w11-external-{n}", f"w11-external-{n}", t, RATE, ("weir",),
                      {"disruptor": (*DISRUPTOR_SINGLE, *each)})
            yield Row(f"w11-external-{n}-batch", f"w11-external-{n}", t, RATE, ("weir-batch",),
                      {"disruptor": DISRUPTOR_BATCH})
        for t in (1, 2):
            yield Row(f"w11-inside-{n}", f"w11-inside-{n}", t, RATE, ("weir",), {"go": GO_BOXES})
    yield from flow_rows()


def flow_rows():
    """W14. What has no peer is here because targets compare its rows with one another."""
    for t in (1, 2):
        yield Row("w14-route", "w14-route", t, EACH,
                  ("weir", "weir-batch", "direct", "direct-batch"), {})
    for n in (1000, 10000, 100000, 1000000):
        yield Row(f"w14-flat-{n}", f"w14-flat-{n}", 1, ("ns_per_event", "bytes_each"),
                  ("weir", "weir-batch"), {})
    for name in ("w14-scale-10us", "w14-scale-1us"):
        for t in (1, 2):
            yield Row(name, name, t, RATE, ("weir-batch",), {})
    for name in ("w14-race-0us", "w14-race-1us"):
        for t in (1, 2):
            yield Row(name, name, t, RATE, ("weir", "weir-inside", "sketch"),
                      {"go": (*GO_FLOWS, f"p{t + 1}-b1024-map"),
                       "tbb": tuple(f"flow{how}" for how in TBB_FLOWS),
                       "tbb-tasks": tuple(f"strand{how}" for how in TBB_FLOWS)})
            yield Row(f"{name}-batch", name, t, RATE, ("weir-batch", "sketch"),
                      {"go": tuple(f"{one}-batch" for one in GO_FLOWS),
                       "tbb": (*(f"flow{how}-batch" for how in TBB_FLOWS), *TBB_TOKENS),
                       "tbb-tasks": tuple(f"strand{how}-batch" for how in TBB_FLOWS)})
    for t in (2, 4):
        yield Row("w14-zipf", "w14-zipf", t, ("imbalance",), ("weir-migrate", "weir", "hash"), {})


ROWS = tuple(make_rows())


def rivals(row):
    """The peers of a row that weir is compared with."""
    return [peer for peer in row.peers if not PEERS[peer].beside]


def command(peer, workload, threads, scale, variant, folder):
    """The words that run one measurement of a peer."""
    sbwt = "very_long" if variant.startswith("spinning") else "none"
    head = [word.format(bin=folder, threads=threads, sbwt=sbwt) for word in PEERS[peer].command]
    return [*head, workload, str(threads), f"{scale:g}", variant]


def select(names, threads, peers):
    """The rows of these names, or whose names begin so, cut down to these peers. Raises ValueError
    with what is wrong and what there is."""
    for peer in peers:
        if peer not in PEERS:
            raise ValueError(f"no peer '{peer}': there are {', '.join(PEERS)}")
    known = list(dict.fromkeys(row.name for row in ROWS))
    for name in names:
        if not any(row.name.startswith(name) for row in ROWS):
            raise ValueError(f"no workload '{name}': there are {', '.join(known)}")
    exact = {name for name in names if name in known}
    rows = [row for row in ROWS
            if not names or row.name in exact
            or any(row.name.startswith(name) for name in set(names) - exact)]
    if threads:
        rows = [row for row in rows if row.threads in threads]
        if not rows:
            raise ValueError("no such workload has that number of threads")
    return [dataclasses.replace(row, peers={peer: variants for peer, variants in row.peers.items()
                                            if not peers or peer in peers}) for row in rows]


def targeted(rows, targets):
    """These rows as far as targets name them, with the peers that they are measured against."""
    named = {}
    for target in targets:
        named.setdefault((target["row"], target["threads"]), set()).add(target.get("against"))
        if "of_row" in target or "of_threads" in target:
            named.setdefault((target.get("of_row", target["row"]),
                              target.get("of_threads", target["threads"])), set())
        if target.get("against") == "own best":  # of any number of threads
            for row in rows:
                if row.name == target["row"]:
                    named.setdefault((row.name, row.threads), set())
    return [dataclasses.replace(row, peers={peer: variants for peer, variants in row.peers.items()
                                            if peer in named[row.name, row.threads]})
            for row in rows if (row.name, row.threads) in named]
