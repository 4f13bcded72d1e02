# SPDX-License-Identifier: Apache-2.0
"""The plugins of examples/plugins/, run by their own files, and the one that ./quickstart runs."""
import collections
import json
import pathlib
import random
import shutil
import subprocess

import server
import tap

EXAMPLES = tap.ROOT / "examples"
PLUGINS = tap.BUILD / "examples/plugins"


def run(conf, text, *more):
    """(exit status, lines of output) of `weir run` with that text as its input."""
    # A plugin that others may write is refused, whatever the mask was when it was built.
    for plugin in PLUGINS.glob("*.so"):
        shutil.copyfile(plugin, plugin.name)
    here = f"weir.plugin-path=[\"{pathlib.Path.cwd()}\"]"
    done = subprocess.run([server.WEIR, "run", str(conf), "-D", here, *more], input=text, capture_output=True, text=True, check=False,
                          env=server.clean_environment(), timeout=server.PATIENCE_S)
    return done.returncode, done.stdout.splitlines(), done.stderr


def check_counter(check):
    chance = random.Random(7)
    lines = [(f"key-{chance.randrange(50)}", chance.randrange(100)) for _ in range(20000)]
    status, out, said = run(EXAMPLES / "plugins/counter/weir.conf",
                            "".join(f"{key} {value}\n" for key, value in lines))
    counts, sums = collections.Counter(), collections.Counter()
    for key, value in lines:
        counts[key] += 1
        sums[key] += value
    wanted = sorted(f"total {key} {counts[key]} {sums[key]}" for key in counts)
    got = sorted(line for line in out if line.startswith("total "))
    check("counter: every key is counted and summed up exactly", status == 0 and got == wanted,
          (status, got[:5], wanted[:5], said))


def check_risk(check):
    orders = [f"acct-{n % 7} BUY {n}" for n in range(2000)]
    status, out, said = run(EXAMPLES / "plugins/risk/weir.conf", "\n".join([*orders, "no order"]) + "\n")
    check("risk: what is within the limit comes out, in order", status == 0 and out == orders[:1001],
          (status, len(out), out[:3], said))


def check_bridge(check):
    status, out, said = run(EXAMPLES / "plugins/bridge/weir.conf", "tea 10\nno price\nsalt 2.5\n")
    check("bridge: what comes in at one feed goes out at the other",
          status == 0 and out == ["tea 9.00", "salt 2.25"], (status, out, said))


def check_lookup(check):
    pathlib.Path("one.txt").write_text("first\nsecond\n")
    status, out, said = run(EXAMPLES / "plugins/lookup/weir.conf", "one.txt\nabsent.txt\n")
    check("lookup: the answers of a service that blocks come back as events", status == 0 and
          sorted(out) == ["absent.txt: (cannot be read)", "one.txt: first"], (status, out, said))


def check_quickstart(check):
    status, out, said = run(EXAMPLES / "quickstart/weir.conf", "", "--seconds", "0.5", "--json",
                            "-D", "weir.components.out.path=orders.log",
                            "-D", "weir.admin.socket=quickstart.sock")
    if not check("quickstart: it runs, and ends with 0", status == 0 and len(out) == 1, (status, said)):
        return
    sums = {one["name"]: one for one in json.loads(out[0])["components"]}
    orders = sums["orders"]["published"]
    check("quickstart: every order went to a check", orders > 0 and
          sums["by-account"]["handled"] == orders, sums)
    lines = pathlib.Path("orders.log").read_text().splitlines()
    passed = sum(int(line.split()[1]) for line in lines if not line.startswith("{"))
    refused = sum(json.loads(line)["count"] for line in lines if line.startswith("{"))
    check("quickstart: every order is in the file, as one of a window or refused",
          passed + refused == orders, (passed, refused, orders))


with tap.plan() as CHECK, server.folder():
    check_counter(CHECK)
    check_risk(CHECK)
    check_bridge(CHECK)
    check_lookup(CHECK)
    check_quickstart(CHECK)
