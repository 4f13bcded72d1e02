# SPDX-License-Identifier: Apache-2.0
"""tools/bench-peers: near and far are kept apart, what was disturbed does not count, a ratio says
who is ahead, and whoever asks for something that is not there is told so. With peers that are made
up: no package is needed, and nothing is measured."""
import json
import pathlib
import sys
import tempfile
import xml.etree.ElementTree

import tap

sys.path.insert(0, str(tap.ROOT / "tools"))
from peerbench import catalogue, figures, machine, plot, race, report  # noqa: E402

TOOL = tap.ROOT / "tools/bench-peers"
NS, RATE = "ns_per_event", "events_per_s"

# Hand-over before and after, and what that is called.
MODES = [
    ("both below 80 ns are near", 30, 32, "near"),
    ("both above 80 ns are far", 166, 174, "far"),
    ("from near to far is a change", 30, 170, "changed"),
    ("from far to near is a change", 170, 30, "changed"),
    ("twice as much is a change, even if both are near", 19, 55, "changed"),
    ("a step over the border is a change", 70, 90, "changed"),
    ("one core has nothing to hand over", 0, 0, "single"),
]
ABOUT = {"date": "2030-01-31", "commit": "0123abc", "cores": 2}


def sample(name, value, mode="near", metric=NS, variant="", thrown=""):
    return figures.Sample(name, variant, {metric: value}, mode, 30, 0, thrown)


def failure_of(function, *arguments):
    """What it says when it refuses, or ""."""
    try:
        function(*arguments)
    except (ValueError, machine.Failed) as error:
        return str(error)
    return ""


def check_statistics(check):
    samples = [sample("tbb", v) for v in (50, 70, 40)]
    summary = figures.summarise(samples, NS, "near")["tbb", ""]
    check("a summary is median, best and (most - least) / median",
          summary == {"median": 50, "best": 40, "spread": 0.6, "count": 3}, summary)
    rates = figures.summarise([sample("go", v, metric=RATE) for v in (5, 9, 7)], RATE, "near")
    check("the best of rates is the highest", rates["go", ""]["best"] == 9, rates)
    for sentence, before, after, mode in MODES:
        check(sentence, figures.mode_of(before, after) == mode, figures.mode_of(before, after))
    check("a change is thrown away", figures.judge(30, 170, 0)[1])
    check("a run beside others is thrown away", figures.judge(30, 30, 0.3)[1])
    check("a quiet run is kept", not figures.judge(30, 30, 0.05)[1])
    check("foreign CPU is what is busy, less our own, of all cores",
          abs(machine.foreign_share(1.0 + machine.SLACK_S, 0.5, 1.0) - 0.5 / machine.CORES) < 1e-9)


def check_ratios(check):
    samples = [sample("weir", 20), sample("tbb", 50), sample("go", 100),
               sample("weir", 40, "far"), sample("tbb", 30, "far"),
               sample("tbb", 1, thrown="others used the machine")]
    near, far = (figures.compare(samples, NS, mode, "weir", ("tbb", "go"))
                 for mode in ("near", "far"))
    check("the best peer of times is the shortest", near["best_peer"] == "tbb", near)
    check("a ratio is weir / best peer", near["ratio"] == 0.4, near)
    check("near and far are not mixed", far["ratio"] == 40 / 30, far)
    check("whoever was always disturbed is named", figures.unlucky(
        [sample("tbb", 1, variant="flow", thrown="x"), sample("go", 1)]) == ["tbb flow"])
    check("what was thrown away is in no median", near["standing"]["tbb"]["count"] == 1, near)
    check("less time is ahead", figures.ahead(NS, 0.4) and not figures.ahead(NS, 1.33))
    check("more events a second are ahead",
          figures.ahead(RATE, 1.2) and not figures.ahead(RATE, 0.9))
    rates = figures.compare([sample(n, v, metric=RATE) for n, v in
                             (("weir", 90), ("floor", 200), ("tbb", 30), ("go", 60))],
                            RATE, "near", "weir", ("tbb", "go"))
    check("the best peer of rates is the highest, and a floor is no peer",
          (rates["best_peer"], rates["ratio"]) == ("go", 1.5), rates)
    check("a mode that never was has no result",
          figures.compare(samples, NS, "single", "weir", ("tbb",)) is None)
    swept = [sample("tbb", 50, variant="flow"), sample("tbb", 40, variant="light"),
             sample("tbb", 10, "far", variant="flow"), sample("tbb", 60, variant="slow"),
             sample("tbb", 9, variant="unlucky", thrown="changed"), sample("weir", 20)]
    check("a sweep keeps the best variant of each mode, and whoever had no luck",
          figures.survivors(swept, NS) == {("tbb", "light"), ("tbb", "flow"), ("tbb", "unlucky"),
                                           ("weir", "")}, figures.survivors(swept, NS))


def check_targets(check):
    def row(**medians):
        return {RATE: {"near": {"standing": {n: {"median": v} for n, v in medians.items()}}}}
    rows = {("w5", 2): row(weir=100, tbb=40), ("w5", 8): row(weir=80, tbb=50, floor=200)}

    def measured(threads, **target):
        return figures.measured({"row": "w5", "threads": threads, "metric": RATE, **target}, rows,
                                "near")
    check("a target compares with a peer", measured(2, against="tbb") == 2.5)
    check("a target compares with the floor", measured(8, against="floor") == 0.4)
    check("a target compares with weir's own best", measured(8, against="own best") == 0.8)
    check("a target may be absolute", measured(8) == 80)
    rows["w6", 1] = row(weir=25)
    check("a target compares with another number of threads, and with another row",
          measured(8, against="weir", of_threads=2) == 0.8
          and measured(8, against="weir", of_row="w6", of_threads=1) == 3.2
          and measured(8, against="weir", of_row="w6", of_threads=2) is None)
    check("a target may be a difference, in the unit of its metric",
          measured(8, against="tbb", compare="difference") == 30)
    check("what was not measured is not judged", measured(2, against="go") is None
          and measured(4, against="tbb") is None)
    check("at least and at most", figures.meets({"at_least": 2}, 2.5)
          and not figures.meets({"at_least": 2}, 1.9) and figures.meets({"at_most": 0.33}, 0.33)
          and not figures.meets({"at_most": 0.33}, 0.34))
    known = {(r.name, r.threads): r for r in catalogue.ROWS}
    targets = json.loads((tap.ROOT / "bench/peers/targets.json").read_text())["targets"]
    lost = [t for t in targets if (t["row"], t["threads"]) not in known
            or t.get("against", "own best") not in
            ("own best", *known[t["row"], t["threads"]].peers, *known[t["row"], t["threads"]].ours)]
    check("every target names a row, and somebody in it", targets and not lost, lost)


class Scene:
    """A machine that hands lines over as it is told, and programs that print what they are told."""

    def __init__(self, handovers=(), foreign=(), texts=None):
        self.handovers, self.foreign, self.texts = list(handovers), list(foreign), texts or {}
        self.called = []

    def handover(self):
        return self.handovers.pop(0) if self.handovers else 30

    def call(self, command):
        self.called.append(command[0])
        if command[0] == "broken":
            raise machine.Failed("status 1")
        return (self.texts.get(command[0], f"RESULT {command[0]} w1 {NS} 10"),
                self.foreign.pop(0) if self.foreign else 0.0)


def run_race(scene, names, rounds, sweep=0):
    one = race.Race(scene.handover, scene.call)
    one.run([race.Entrant(name, "", (name,)) for name in names], NS, rounds, sweep)
    return one


def check_race(check):
    scene = Scene()
    run_race(scene, ["a", "b", "c"], 3)
    check("entrants take turns, and each round begins with another",
          "".join(scene.called) == "abcbcacab", scene.called)
    scene = Scene(handovers=[30, 170, 30, 31])
    one = run_race(scene, ["a"], 1)
    check("a run in which the hand-over changed is repeated, and stays in the record",
          [s.mode for s in one.samples] == ["changed", "near"]
          and len(figures.kept(one.samples)) == 1, one.samples)
    scene = Scene(foreign=[0.5] * 20)
    one = run_race(scene, ["a"], 1)
    check("repeating has an end", len(scene.called) == race.TRIES and not figures.kept(one.samples))
    scene = Scene()
    one = run_race(scene, ["a", "broken"], 3)
    check("who fails is said once and does not come again",
          len(one.failures) == 1 and scene.called.count("broken") == 1
          and scene.called.count("a") == 3, one.failures)
    lines = "\n".join(f"RESULT x w1 {NS} {v}" for v in (30, 10, 20)) + "\nnoise\n"
    check("of several figures in one run the median counts",
          machine.read_results(lines) == {NS: 20})
    check("no figure is a failure", "RESULT" in failure_of(machine.read_results, "noise"))
    text = '[{"workload": "w1", "threads": 1, "mode": "near", "runs": 1, "ns_per_event": 13}]'
    check("weir-bench's figures are read", machine.read_weir(text) == {NS: 13})
    mixed = [race.Entrant("weir", "weir", ("mixed",), machine.read_weir)]
    one = race.Race(Scene().handover, Scene(texts={"mixed": '[{"mode": "mixed"}]'}).call)
    one.run(mixed, NS, 1, 0)
    check("a run that weir-bench calls mixed is thrown away, not a failure",
          not one.failures and one.samples and not figures.kept(one.samples), one.samples)
    check("a row that weir-bench skips is a failure",
          "no core" in failure_of(machine.read_weir, '[{"skipped": "no core"}]'))
    good = f"print('RESULT x w1 {NS} 5')"
    text, _ = machine.call([sys.executable, "-c", good])
    check("a program is run", machine.read_results(text) == {NS: 5})
    check("a program that exits with 1 has failed",
          "status 1" in failure_of(machine.call, [sys.executable, "-c", "raise SystemExit(1)"]))
    check("a program that does not end has failed", "longer" in failure_of(
        machine.call, [sys.executable, "-c", "import time; time.sleep(60)"], 0.2))


def check_catalogue(check):
    sources = {path.name for path in (tap.ROOT / "bench/peers").iterdir()}
    named = {word.rpartition("/")[2] for peer in catalogue.PEERS.values() for word in peer.build
             if word.startswith("{src}/")}
    check("what builds a peer is there", named <= sources, named - sources)
    check("every row knows its peers",
          all(peer in catalogue.PEERS for row in catalogue.ROWS for peer in row.peers))
    titles = [row.title for row in catalogue.ROWS]
    check("every row has a name of its own", len(titles) == len(set(titles)), titles)
    check("a name that is one row's means that one",
          {r.name for r in catalogue.select(["w2-external"], [], [])} == {"w2-external"})
    check("the beginning of a name means all of them",
          {r.name for r in catalogue.select(["w3"], [], [])} == {"w3-1", "w3-100"})
    check("whoever runs in the sender is beside the race", "tbb-inline" not in catalogue.rivals(
        next(r for r in catalogue.ROWS if "tbb-inline" in r.peers)))
    targets = [{"row": "w1", "threads": 2, "against": "tbb"}, {"row": "w9-idle", "threads": 8}]
    check("--targets leaves the rows and peers that targets name",
          [(r.title, [*r.peers]) for r in catalogue.targeted(catalogue.ROWS, targets)]
          == [("w1@2", ["tbb"]), ("w9-idle@8", [])])
    elsewhere = [{"row": "w3-1", "threads": 2, "against": "weir", "of_row": "w1", "of_threads": 1}]
    check("... and the rows that those are compared with",
          [r.title for r in catalogue.targeted(catalogue.ROWS, elsewhere)] == ["w1@1", "w3-1@2"])
    only = catalogue.select(["w1"], [2], ["go"])
    check("peers and threads cut a race down",
          [(r.threads, [*r.peers]) for r in only] == [(2, ["go"])])


def check_output(check, folder):
    row = next(r for r in catalogue.ROWS if r.title == "w1@1")
    samples = [sample("weir", 13, variant="weir"), sample("tbb", 130, variant="flow"),
               sample("tbb", 1, variant="flow", thrown="x")]
    results = [report.Result(row, samples, ["floor"])]
    targets = [{"row": "w1", "threads": 1, "metric": NS, "against": "tbb", "at_most": 0.33}]
    found = report.verdicts(targets, results)
    check("a verdict has the ratio and whether it is met",
          found[0]["measured"] == {"near": 0.1} and found[0]["met"] == {"near": True}, found)
    path = folder / "record.json"
    path.write_text(json.dumps(report.record(ABOUT, results, found)))
    about, again = report.read_record(path)
    check("a record comes back as it was written",
          about == ABOUT and again[0].comparisons() == results[0].comparisons())
    for mode, bars in (("near", 2), ("far", 0)):
        picture = plot.svg(results, mode, ABOUT)
        drawn = xml.etree.ElementTree.fromstring(picture)
        heights = [r.get("height") for r in drawn.findall("{http://www.w3.org/2000/svg}rect")]
        check(f"the picture has a bar for each that ran {mode}, and says when that was",
              heights.count(str(plot.BAR)) == bars and "0123abc" in picture, picture)
    good, said = tap.run(sys.executable, TOOL, "--from", path, "--plot", folder / "p.svg")
    check("a record is reported without measuring",
          good and "weir / tbb = 0.100  ahead" in said and (folder / "p.svg").exists(), said)


REFUSED = [
    ("an unknown peer", ["--peers", "tbb,nobody"], "no peer 'nobody': there are tbb, "),
    ("an unknown workload", ["w77"], "no workload 'w77': there are w1, w2-external"),
    ("a number of threads that no row has", ["w1", "--threads", "3"], "number of threads"),
    ("a race without rounds", ["--rounds", "0", "--sweep", "0"], "--rounds and --sweep"),
    ("a load above the full one", ["--scale", "2"], "--scale must be"),
    ("a record that is none", ["--from", tap.ROOT / "bench/peers/targets.json"], "is no record"),
    ("an unknown option", ["--fastest"], "unrecognized arguments"),
]

with tap.plan() as check, tempfile.TemporaryDirectory() as place:
    check_statistics(check)
    check_ratios(check)
    check_targets(check)
    check_race(check)
    check_catalogue(check)
    check_output(check, pathlib.Path(place))
    for what, arguments, piece in REFUSED:
        good, said = tap.run(sys.executable, TOOL, *arguments)
        check(f"refuses {what}, and says why", not good and piece in said, said)
    good, said = tap.run(sys.executable, TOOL, "--list")
    check("--list names every peer and row", good and all(
        name in said for name in [*catalogue.PEERS, *(row.title for row in catalogue.ROWS)]), said)
