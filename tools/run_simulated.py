#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the scenarios of an example under the simulator: one must fail, another must not.

    tools/run_simulated.py COMMAND PLUGIN BROKEN SOUND
"""
import subprocess
import sys

BROKEN_RUNS_MAX, SOUND_RUNS = 20000, 3000


def simulate(command, plugin, scenario, runs):
    done = subprocess.run([command, plugin, scenario, "--runs", str(runs)], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    print(done.stdout, end="")
    return done.returncode


def main(command, plugin, broken, sound):
    found = simulate(command, plugin, broken, BROKEN_RUNS_MAX)
    if found != 1:
        print(f"{broken}: exit status {found}, not 1: the mistake was not found")
    left = simulate(command, plugin, sound, SOUND_RUNS)
    if left != 0:
        print(f"{sound}: exit status {left}, not 0")
    return 0 if (found, left) == (1, 0) else 1


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
