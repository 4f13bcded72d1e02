# SPDX-License-Identifier: Apache-2.0
"""docs/METRICS.md is what the table of metrics says, and what an engine tells is what Prometheus
takes and that page has."""
import json
import os
import re
import shutil
import subprocess

import tap

WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))
PROGRAM = str(tap.BUILD / "tests/scrape_program")
PAGE = tap.ROOT / "docs/METRICS.md"


def scraped(*arguments):
    return subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, check=True,
                          timeout=tap.TIMEOUT_S).stdout


def keys_of(value):
    """Every key of the sample, at any depth."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        for key, below in value.items():
            yield key
            yield from keys_of(below)


with tap.plan() as check:
    good, said = tap.run("python3", tap.ROOT / "tools/metrics_reference.py", WEIR, "--check")
    check("docs/METRICS.md is current", good, said)
    page = PAGE.read_text()
    text = scraped("3")
    names = set(re.findall(r"^# TYPE (weir_\w+)", text, re.M))
    missing = sorted(name for name in names if f"`{name}`" not in page)
    check("every metric that an engine has stands in it", len(names) > 100 and not missing, missing)
    # Feeds, routers, components: all of them are there, so the other way round, too.
    listed = set(re.findall(r"^\| `(weir_\w+)`", page, re.M))
    check("and an engine has every one that stands there", not listed - names,
          sorted(listed - names))
    sample = json.loads((tap.ROOT / "tests/metric/sample.json").read_text())
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`]+`", page))))
    missing = sorted(set(keys_of(sample)) - words)
    check("every key of the JSON stands in it", not missing, missing)
    many = scraped("10000")
    check("of ten thousand processors a thousand have series",
          many.count("\nweir_processor_depth{") == 1001 and "\nweir_metrics_processors_hidden " in many
          and many.startswith("# 90"), many[:200])
    if shutil.which("promtool"):
        for what, given in (("what an engine tells", text), ("that of ten thousand", many)):
            done = subprocess.run(["promtool", "check", "metrics"], input=given, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                                  timeout=tap.TIMEOUT_S)
            check(f"promtool finds no fault with {what}", done.returncode == 0,
                  done.stdout[:2000])
    else:
        check.skip("promtool finds no fault with what an engine tells", "promtool is not installed")
    refused = subprocess.run([WEIR, "metrics", "nonsense"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, check=False, timeout=tap.TIMEOUT_S)
    check("`weir metrics` says what it takes", refused.returncode == 2
          and "weir metrics reference" in refused.stderr, refused.stderr)
