# SPDX-License-Identifier: Apache-2.0
"""What measurements come to: near and far apart, medians, best, spread, ratios, targets.

A figure whose name ends in _per_s is better if there is more of it, every other one if there is
less. A ratio is always weir / peer, so below 1 is good for times and above 1 for rates.
"""
import dataclasses
import statistics

NEAR_MAX_NS = 80.0  # below: the cores share a cache. Nothing was ever seen close to it.
CHANGE = 2.0        # so many times more or less: it changed, even if both are near
FOREIGN_MAX = 0.12  # of all cores: what others may use of the machine meanwhile
MODES = ("near", "far", "single")


@dataclasses.dataclass
class Sample:
    """One measurement of one entrant. `thrown` says why it does not count, or is empty."""
    name: str  # a peer, or a variant of weir-bench
    variant: str
    figures: dict
    mode: str = "near"
    handover_ns: float = 0
    foreign: float = 0
    thrown: str = ""
    took_s: float = 0


def label(name, variant):
    """`tbb flow`, `weir`: a variant of ours is its own name."""
    return name if variant in (name, "") else f"{name} {variant}"


def more_is_better(metric):
    return metric.endswith("_per_s")


def mode_of(before_ns, after_ns):
    """near, far, single (one core: nothing to hand over), or changed."""
    low, high = sorted((before_ns, after_ns))
    if high == 0:
        return "single"
    if low <= 0 or high >= CHANGE * low or (low < NEAR_MAX_NS) != (high < NEAR_MAX_NS):
        return "changed"
    return "near" if high < NEAR_MAX_NS else "far"


def judge(before_ns, after_ns, foreign):
    """(mode, why it is thrown away or "")."""
    mode = mode_of(before_ns, after_ns)
    if mode == "changed":
        return mode, f"the hand-over changed from {before_ns:.0f} to {after_ns:.0f} ns"
    if foreign > FOREIGN_MAX:
        return mode, f"others used {foreign:.0%} of the machine"
    return mode, ""


def better(metric, a, b):
    return a > b if more_is_better(metric) else a < b


def best_of(metric, values):
    return max(values) if more_is_better(metric) else min(values)


def kept(samples, mode=None):
    return [s for s in samples if not s.thrown and (mode is None or s.mode == mode)]


def unlucky(samples):
    """The labels of those whose measurements were all thrown away."""
    counted = {(s.name, s.variant) for s in kept(samples)}
    return list(dict.fromkeys(label(s.name, s.variant) for s in samples
                              if (s.name, s.variant) not in counted))


def summarise(samples, metric, mode):
    """{(name, variant): {median, best, spread, count}} of one mode."""
    groups = {}
    for sample in kept(samples, mode):
        if metric in sample.figures:
            groups.setdefault((sample.name, sample.variant), []).append(sample.figures[metric])
    out = {}
    for key, values in groups.items():
        median = statistics.median(values)
        out[key] = {"median": median, "best": best_of(metric, values), "count": len(values),
                    "spread": (max(values) - min(values)) / median if median else 0.0}
    return out


def best_variants(summary, metric):
    """{name: (variant, its figures)}: each peer with its best variant."""
    out = {}
    for (name, variant), figures in summary.items():
        if name not in out or better(metric, figures["median"], out[name][1]["median"]):
            out[name] = (variant, figures)
    return out


def survivors(samples, metric):
    """The (name, variant) that go on after the sweep: of each name the best in each mode, and those
    that no kept measurement has judged yet."""
    judged, best = set(), set()
    for mode in MODES:
        summary = summarise(samples, metric, mode)
        judged |= set(summary)
        best |= {(name, variant) for name, (variant, _) in best_variants(summary, metric).items()}
    return best | ({(s.name, s.variant) for s in samples} - judged)


def compare(samples, metric, mode, ours, peers):
    """One row in one mode: the figures of all, the best peer, and weir / best peer."""
    standing = best_variants(summarise(samples, metric, mode), metric)
    if not standing:
        return None
    rivals = [name for name in standing if name in peers]
    out = {"standing": {name: {"variant": variant, **figures}
                        for name, (variant, figures) in standing.items()},
           "best_peer": None, "ratio": None}
    if rivals:
        def median(name):
            return standing[name][1]["median"]
        out["best_peer"] = (max if more_is_better(metric) else min)(rivals, key=median)
        if ours in standing:
            out["ratio"] = ratio(median(ours), median(out["best_peer"]))
    return out


def ratio(ours, theirs):
    return ours / theirs if theirs else None


def ahead(metric, value):
    """Whether a ratio weir / peer says that weir is ahead, or level."""
    return value >= 1 if more_is_better(metric) else value <= 1


def meets(target, value):
    """Whether a ratio (or an absolute figure) is what the target asks for."""
    if "at_least" in target:
        return value >= target["at_least"]
    return value <= target["at_most"]


def measured(target, row_results, mode):
    """What a target compares, in one mode: a ratio (a difference if it says so), or the figure
    itself if it is absolute; None if it was not measured. `row_results`: {(row name, threads): {metric: {mode: compare()}}}."""
    def median(name, threads, row=target["row"]):
        found = row_results.get((row, threads), {}).get(target["metric"], {}).get(mode)
        return found["standing"].get(name, {}).get("median") if found else None

    ours = median(target.get("ours", "weir"), target["threads"])
    if ours is None:
        return None
    if target.get("against") is None:
        return ours
    if target["against"] == "own best":
        all_of_them = [value for name, threads in row_results if name == target["row"]
                       if (value := median(target.get("ours", "weir"), threads)) is not None]
        return ratio(ours, best_of(target["metric"], all_of_them))
    theirs = median(target["against"], target.get("of_threads", target["threads"]),
                    target.get("of_row", target["row"]))
    if theirs is None:
        return None
    return ours - theirs if target.get("compare") == "difference" else ratio(ours, theirs)
