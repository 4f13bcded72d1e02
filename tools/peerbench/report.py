# SPDX-License-Identifier: Apache-2.0
"""The tables that people read, and the record that programs read."""
import dataclasses
import json
import pathlib

from . import catalogue, figures

UNITS = (("_per_s", 1e-6, " M/s"), ("_ns", 1e-3, " us"), ("ns_per_event", 1, " ns"),
         ("seconds", 1, " s"), ("bytes_each", 1, " B"), ("_ms", 1, " ms"), ("imbalance", 1, " x"))
# A thread that had no context switch was not on a core, and made no system call.
OF_WEIR_ALONE = {"switches", "syscalls"}


def show(metric, value):
    """A figure in its unit, with three digits or more."""
    if value is None:
        return "-"
    for ending, factor, unit in UNITS:
        if metric.endswith(ending):
            return f"{value * factor:.{digits(value * factor)}f}{unit}"
    return f"{value:g}"


def digits(value):
    return 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3


@dataclasses.dataclass
class Result:
    """A row that was run: its samples, and what they come to."""
    row: catalogue.Row
    samples: list
    without: list  # variants of weir-bench that it does not have (yet)

    def comparisons(self):
        """{metric: {mode: figures.compare()}}, without modes that never were."""
        out = {}
        for metric in self.metrics():
            modes = {mode: found for mode in figures.MODES
                     if (found := figures.compare(self.samples, metric, mode, self.row.ours[0],
                                                  catalogue.rivals(self.row)))}
            if modes:
                out[metric] = modes
        return out

    def metrics(self):
        """Those of the row, and what targets ask of weir alone."""
        said = {metric for sample in self.samples for metric in sample.figures}
        return [*self.row.metrics, *sorted(said & OF_WEIR_ALONE)]


def all_comparisons(results):
    return {(r.row.name, r.row.threads): r.comparisons() for r in results}


# --- for people ----------------------------------------------------------------------------------

def print_row(result, say):
    row = result.row
    thrown = sum(1 for sample in result.samples if sample.thrown)
    say(f"\n{row.name}, {row.threads} thread{'s' if row.threads > 1 else ''}"
        f"{f'  ({thrown} measurements thrown away)' if thrown else ''}")
    for variant in result.without:
        say(f"  weir-bench has no {row.workload} {variant}")
    for label in figures.unlucky(result.samples):
        say(f"  no undisturbed measurement of {label}")
    for metric, modes in result.comparisons().items():
        for mode, found in modes.items():
            say(f"  {metric}, {mode}")
            order = sorted(found["standing"].items(), key=lambda item: item[1]["median"],
                           reverse=figures.more_is_better(metric))
            for name, one in order:
                who = figures.label(name, one["variant"])
                say(f"    {who:28} median {show(metric, one['median']):>11}   best "
                    f"{show(metric, one['best']):>11}   spread {one['spread']:5.0%}   "
                    f"n={one['count']}")
            if found["ratio"] is not None:
                word = "ahead" if figures.ahead(metric, found["ratio"]) else "BEHIND"
                say(f"    {row.ours[0]} / {found['best_peer']} = {found['ratio']:.3f}  {word}")


def describe(target):
    """`w1@2 ns_per_event <= 0.25 x tbb`"""
    sign, bound = (">=", target["at_least"]) if "at_least" in target else ("<=", target["at_most"])
    times = "above" if target.get("compare") == "difference" else "x"
    against = f" {times} {target['against']}" if target.get("against") else ""
    if "of_row" in target or "of_threads" in target:
        against += f" {target.get('of_row', target['row'])}@" \
                   f"{target.get('of_threads', target['threads'])}"
    aim = f" (aim {target['aim']:g})" if "aim" in target else ""
    ours = f" {target['ours']}" if "ours" in target else ""
    where = f"{target['row']}@{target['threads']}{ours}"
    return f"{where} {target['metric']} {sign} {bound:g}{against}{aim}"


def verdicts(targets, results):
    """One dict a target: what was measured in each mode, and whether that is met."""
    comparisons = all_comparisons(results)
    out = []
    for target in targets:
        found = {mode: value for mode in figures.MODES
                 if (value := figures.measured(target, comparisons, mode)) is not None}
        out.append({"target": describe(target), **target, "measured": found,
                    "met": {mode: figures.meets(target, value) for mode, value in found.items()}})
    return out


def verdict_word(one, mode):
    """Targets bind in near; in far it is enough not to be behind."""
    if one["met"][mode]:
        return "met"
    if mode == "near" or one.get("against") not in catalogue.PEERS:
        return "MISSED"
    return "ahead" if figures.ahead(one["metric"], one["measured"][mode]) else "BEHIND"


def print_verdicts(found, say):
    say(f"\n{'target':62} {'near':>13} {'far':>13}")
    for one in found:
        cells = []
        for mode in ("near", "far"):
            if mode not in one["measured"]:
                cells.append("-")
                continue
            cells.append(f"{one['measured'][mode]:.3g} {verdict_word(one, mode)}")
        say(f"{one['target']:62} {cells[0]:>13} {cells[1]:>13}")
    near = [one["met"]["near"] for one in found if "near" in one["met"]]
    say(f"near, where they bind: {sum(near)} met, {len(near) - sum(near)} missed, "
        f"{len(found) - len(near)} not measured")


def print_rivals(results, say):
    """Where weir is behind the best peer of a row, in either mode: nowhere is the aim."""
    behind = []
    for result in results:
        for metric, modes in result.comparisons().items():
            for mode, found in modes.items():
                if found["ratio"] is not None and not figures.ahead(metric, found["ratio"]):
                    behind.append(f"  {result.row.title} {metric}, {mode}: {found['ratio']:.3f} x "
                                  f"{found['best_peer']}")
    say("\nbehind the best peer:" if behind else "\nbehind the best peer: nowhere")
    for line in behind:
        say(line)


# --- for programs --------------------------------------------------------------------------------

def record(about, results, found):
    return {**about, "rows": [{"row": r.row.name, "workload": r.row.workload,
                               "threads": r.row.threads, "ours": r.row.ours[0],
                               "results": r.comparisons(), "without": r.without,
                               "samples": [dataclasses.asdict(s) for s in r.samples]}
                              for r in results], "targets": found}


def read_record(path):
    """(about, results) of a record; raises ValueError if it is none."""
    content = json.loads(pathlib.Path(path).read_text())
    known = {(row.name, row.threads): row for row in catalogue.ROWS}
    try:
        results = [Result(known[one["row"], one["threads"]],
                          [figures.Sample(**sample) for sample in one["samples"]], one["without"])
                   for one in content.pop("rows")]
        content.pop("targets")
    except (KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} is no record of tools/bench-peers") from None
    return content, results
