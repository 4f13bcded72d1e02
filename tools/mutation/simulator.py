# SPDX-License-Identifier: Apache-2.0
"""The simulator as a killer: all scenarios of tests/sim/ over a mutant, in a few stages.

A mutant costs one instrumented compilation, one link, and a second or two; the seeds are fixed, so
a verdict is the same every time. It sees what real threads hardly ever show: races, missing memory
orders, wake-ups that are lost. It builds no src/sync/real/ and makes no call of the system.
"""
import subprocess

from mutation import workshop

ROOM = ("-DWEIR_SIMULATED -fsanitize=thread --param=tsan-instrument-func-entry-exit=0"
        " -Dmemset=weir__sim_memset -Dmemcpy=weir__sim_memcpy -Dmemmove=weir__sim_memmove")
CORE = "-DWEIR_SIMULATED"
WEAK = "store-buffers,races,spurious,stalls,stale-reads"
# The cheap ones first. The last three are for memory orders, which nobody else can judge.
STAGES = {
    "sim/first": ("--runs", "20"),
    "sim/random": ("--runs", "100", "--seed", "1000"),
    "sim/pct": ("--runs", "60", "--strategy", "pct"),
    "sim/weak": ("--runs", "100", "--seed", "2000", "--faults", WEAK),
    "sim/random-long": ("--runs", "400", "--seed", "10000"),
    "sim/weak-long": ("--runs", "1000", "--seed", "20000", "--faults", WEAK),
    "sim/pct-long": ("--runs", "400", "--strategy", "pct", "--seed", "10000"),
}
QUICK = ("sim/first", "sim/random", "sim/pct", "sim/weak")
FOR_ORDERS = ("sim/random-long", "sim/weak-long", "sim/pct-long")

NINJA = workshop.COMPILE + """\
rule exe
  command = {compiler} -pthread @$out.rsp -o $out
  rspfile = $out.rsp
  rspfile_content = $in
"""


def stages_for(mutant, names):
    """The stages that a mutant goes through, in their order."""
    return [name for name in STAGES if name in names
            and (mutant.operator == "order" or name not in FOR_ORDERS)]


class Simulator(workshop.Workshop):
    """A copy of the tree in which the program of all scenarios is built."""

    library = "scenarios"
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    failure_marks = (b"    why: ",)

    def __init__(self, root, folder):
        super().__init__(root, folder, [], "plain")

    def _write_ninja(self):
        rooms = (self.folder / "src/meson.build").read_text()
        scenarios = (self.folder / "tests/sim/meson.build").read_text()
        text = [NINJA.format(flags=f"{workshop.FLAGS} {CORE}", compiler=workshop.compiler())]
        watched = ["src/" + source for source in workshop.listed(rooms, "room_sources")]
        watched += ["tests/sim/" + source
                    for source in workshop.listed(scenarios, "scenario_sources")]
        plain = ["src/" + source for name in ("sim_sources", "simulate_sources")
                 for source in workshop.listed(rooms, name)]
        plain += ["tests/sim/" + source
                  for source in ["scenarios.c", *workshop.listed(scenarios, "stage_sources")]]
        objects = [self._object(text, source, f"{workshop.FLAGS} {ROOM}") for source in watched]
        objects += [self._object(text, source) for source in plain]
        text.append(f"build scenarios: exe {' '.join(objects)}\n")
        self._keep_ninja("".join(text))
        return {name: ("simulator", "scenarios") for name in STAGES}

    def command(self, name):
        return [*super().command(name), *STAGES[name]]
