# SPDX-License-Identifier: Apache-2.0
"""config/reference.conf and weir.conf(5) are what the table of settings says, and the reference is
what an engine has without any file."""
import json
import os
import shutil
import subprocess

import tap

WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))
REFERENCE = tap.ROOT / "config/reference.conf"
ENVIRONMENT = {"PATH": os.environ["PATH"]}


def shown(*arguments):
    said = subprocess.run([WEIR, "config", "show", "--json", "--no-environment", *arguments],
                          stdout=subprocess.PIPE, text=True, check=True, timeout=tap.TIMEOUT_S)
    return json.loads(said.stdout)["settings"]


with tap.plan() as check:
    good, said = tap.run("python3", tap.ROOT / "tools/config_reference.py", WEIR, "--check")
    check("the reference file and the manual page are current", good, said)
    good, said = tap.run(WEIR, "config", "check", "--strict", REFERENCE, env=ENVIRONMENT)
    check("the reference file is a configuration without a fault", good, said)
    done = subprocess.run([WEIR, "config", "diff", REFERENCE, "/dev/null"], env=ENVIRONMENT,
                          stdout=subprocess.PIPE, text=True, check=False, timeout=tap.TIMEOUT_S)
    check("it changes nothing", done.returncode == 0 and not done.stdout, done.stdout)
    keys = [row["key"] for row in shown("/dev/null")]
    text = REFERENCE.read_text()
    missing = [key for key in keys if key.rsplit(".", 1)[1] + " = " not in text]
    check("every setting stands in it", len(keys) > 15 and not missing, missing)
    check("every setting has the value that is built in",
          all(row["from"] == "built-in" for row in shown("/dev/null")), "")
    if shutil.which("mandoc"):
        good, said = tap.run("mandoc", "-Tlint", "-Wwarning", tap.ROOT / "docs/man/weir.conf.5")
        check("mandoc finds no fault with the manual page", good, said)
    else:
        check.skip("mandoc finds no fault with the manual page", "mandoc is not installed")
