# SPDX-License-Identifier: Apache-2.0
"""The picture: a group of bars a row, weir and its peers, as speed in units of the best peer."""
import math
from xml.sax.saxutils import escape

from . import figures, report

WIDTH, LEFT, RIGHT = 920, 150, 190
TOP, BAR, GAP, GROUP_GAP, FOOT = 118, 14, 3, 16, 58
AXIS_MAX = 6     # a longer bar is cut, and says its value
PEERS_SHOWN = 3  # the best of a row
COLOURS = {  # light, dark; told apart in either
    "weir": ("#0b6e99", "#4cc2f1"), "tbb": ("#b3541e", "#e8935c"),
    "tbb-tasks": ("#7a4a2a", "#b98a66"), "go": ("#4b8b3b", "#8ccb7b"),
    "disruptor": ("#8a5aa8", "#c39bdd"), "glib": ("#a3893a", "#d9c172"),
    "caf": ("#b0486b", "#e58aa8"), "erlang": ("#8f3b3b", "#d98686"),
    "jctools": ("#5a6fa8", "#9db0e4"), "moodycamel": ("#3f8f86", "#7fcdc4"),
    "libuv": ("#777777", "#b0b0b0"), "libev": ("#54626f", "#9fb0c0"),
}


def style():
    """Colours follow the reader's preference; without one, light."""
    def rules(which):
        ink, paper, faint = (("#1f2328", "#ffffff", "#d0d7de"),
                             ("#e6edf3", "#0d1117", "#30363d"))[which]
        return "".join([f"text{{fill:{ink};stroke:{paper}}}.paper{{fill:{paper}}}"
                        f".faint{{stroke:{faint}}}.one{{stroke:{ink}}}.cut{{stroke:{paper}}}",
                        *(f".{name}{{fill:{pair[which]}}}" for name, pair in COLOURS.items())])
    return ("<style>text{font:12px system-ui,'DejaVu Sans',sans-serif;paint-order:stroke;"
            "stroke-width:3px;stroke-linejoin:round}.title{font-size:18px;"
            "font-weight:600}.small{font-size:11px}.bold{font-weight:600}.faint,.one{fill:none}"
            ".one{stroke-dasharray:3 3}"
            f"{rules(0)}@media(prefers-color-scheme:dark){{{rules(1)}}}</style>")


def speeds(metric, found, ours):
    """[(name, speed in units of the best peer, median)]: weir first, then the best peers."""
    standing, best = found["standing"], found["standing"][found["best_peer"]]["median"]

    def speed(name):
        median = standing[name]["median"]
        if figures.more_is_better(metric):
            return median / best
        return best / median if median else float(AXIS_MAX)

    peers = sorted((name for name in standing if name in COLOURS and name != ours), key=speed,
                   reverse=True)[:PEERS_SHOWN]
    return [(name, speed(name), standing[name]["median"]) for name in (ours, *peers)]


def groups_of(results, mode):
    """[(row, metric, bars)]: the first metric of each row with weir and a peer in that mode."""
    out = []
    for result in results:
        metric = result.row.metrics[0]
        found = result.comparisons().get(metric, {}).get(mode)
        if found and found["ratio"] is not None:
            out.append((result.row, metric, speeds(metric, found, result.row.ours[0])))
    return out


def text(x, y, words, kind="", anchor="start"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">'
            f"{escape(words)}</text>")


def draw_bar(y, name, speed, metric, median, scale):
    length = max(1.0, min(speed, AXIS_MAX) * scale)
    kind = "weir" if name.startswith("weir") else name
    said = f"{name}  {report.show(metric, median)}  ({speed:.2f}×)"
    out = [f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2" class="{kind}"/>']
    if speed > AXIS_MAX:  # two strokes in the colour of the paper: this bar goes on
        for back in (12, 18):
            x = LEFT + length - back
            out.append(f'<path d="M{x:.1f} {y + BAR + 1}l5 -{BAR + 2}" class="cut" '
                       'stroke-width="2.5"/>')
    out.append(text(LEFT + length + 6, y + BAR - 3, said,
                    "small bold" if kind == "weir" else "small"))
    return out


def draw_legend(names):
    """As close as all of them need it to be, from the left edge if they are many."""
    widths = [22 + 6.5 * len(name) for name in names]
    room = WIDTH - RIGHT / 2 - 20
    x = LEFT if LEFT + sum(widths) < room else 20
    gap = min(8, (room - x - sum(widths)) / max(1, len(names)))
    out = []
    for name, width in zip(names, widths):
        out.append(f'<rect x="{x:.1f}" y="72" width="11" height="11" rx="2" class="{name}"/>')
        out.append(text(x + 15, 82, name, "small"))
        x += width + gap
    return out


def svg(results, mode, about):
    """The whole picture of one mode, as text."""
    groups = groups_of(results, mode)
    longest = max((speed for _, _, bars in groups for _, speed, _ in bars), default=1)
    ticks = max(2, min(AXIS_MAX, math.ceil(longest)))
    scale = (WIDTH - LEFT - RIGHT) / ticks
    height = TOP + FOOT + sum(len(bars) * (BAR + GAP) + GROUP_GAP for _, _, bars in groups)
    shown = {"weir" if name.startswith("weir") else name for _, _, bars in groups
             for name, _, _ in bars}
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           f'viewBox="0 0 {WIDTH} {height}" role="img">',
           f"<title>weir and its peers, {mode}</title>", style(),
           f'<rect width="{WIDTH}" height="{height}" class="paper"/>',
           text(20, 32, "weir and its peers", "title"),
           text(20, 54, "Speed in units of the best peer of each row; longer is faster. Medians of "
                f"interleaved runs, cores {mode}.")]
    out += draw_legend([name for name in COLOURS if name in shown])
    for tick in range(ticks + 1):
        x, kind = LEFT + tick * scale, "one" if tick == 1 else "faint"
        out.append(f'<path d="M{x:.1f} {TOP - 8}V{height - FOOT}" class="{kind}"/>')
        out.append(text(x, TOP - 14, f"{tick}×", "small", "middle"))
    y = TOP
    for row, metric, bars in groups:
        out.append(text(LEFT - 10, y + BAR - 3, row.name, "bold", "end"))
        plural = "s" if row.threads > 1 else ""
        out.append(text(LEFT - 10, y + 2 * BAR, f"{row.threads} thread{plural}", "small", "end"))
        for name, speed, median in bars:
            out += draw_bar(y, name, speed, metric, median, scale)
            y += BAR + GAP
        y += GROUP_GAP
    out.append(text(20, height - 28, f"{about['date']}, commit {about['commit']}, "
                    f"{about['cores']} cores. Each peer in its best variant; the {PEERS_SHOWN} "
                    "best peers of a row are shown.", "small"))
    out.append(text(20, height - 12, "Repeat it with tools/bench-peers.", "small"))
    out.append("</svg>")
    return "\n".join(out) + "\n"
