# SPDX-License-Identifier: Apache-2.0
"""The live page: its modules in node, then all of it in a real browser, over made-up servers and
over `weir run` with the quickstart. tests/browser/ has the tests; this runs them and passes on what
they say. Without node, chromium or what drives it they are skipped.

    page.py                 all but the next
    page.py --left-open     a page that is left open does not grow: WEIR_PAGE_SECONDS, for the night
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys

import server
import tap

HERE = tap.ROOT / "tests/browser"
TOKEN, OTHER_TOKEN = "a-token-of-24-characters", "another-one-of-24-letters"
SECONDS = 150  # what takes 25 s when the machine has nothing else to do
PAGE_SECONDS = float(os.environ.get("WEIR_PAGE_SECONDS", "60"))
LINE = re.compile(r"^(not )?ok \d+ - (.*)$")


def missing():
    """What is not there, with what would bring it; "" if all is."""
    if not shutil.which("node"):
        return "no node: apt-get install nodejs"
    if not chromium():
        return "no chromium: apt-get install chromium"
    for name in ("playwright-core", "axe-core"):
        if not (HERE / "node_modules" / name / "package.json").exists():
            return f"no {name} in tests/browser/node_modules: tools/browser-tools"
    return ""


def chromium():
    return os.environ.get("WEIR_CHROMIUM") or shutil.which("chromium")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def write_config(name, **http):
    """The quickstart, with a token, on a port that it has again after a restart."""
    said = {"weir": {
        "plugin-path": [str(tap.BUILD / "examples/plugins")],
        "components": {"out": {"path": str(pathlib.Path("out.log").resolve())}},
        "admin": {"socket": str(pathlib.Path("a.sock").resolve()), "http": http}}}
    quickstart = json.dumps(str(tap.ROOT / "examples/quickstart/weir.conf"))
    text = f"include file({quickstart})\n{json.dumps(said)[1:-1]}\n"
    pathlib.Path(name).write_text(text, encoding="utf-8")


def write_configs(port):
    """For this machine alone; for others, by a name; and the same with another token."""
    write_config("page.conf", port=port, token=TOKEN)
    for name, token in (("remote.conf", TOKEN), ("other.conf", OTHER_TOKEN)):
        write_config(name, port=port, token=token, address="0.0.0.0", **{
            "allow-remote": True, "hosts": [f"shop.example:{port}", f"127.0.0.1:{port}"]})


def start(script, **environment):
    """A script of tests/browser under way; what it says goes to a file, so that nothing blocks."""
    out = open(f"{script}.out", "w+", encoding="utf-8")
    # pylint: disable=consider-using-with
    return script, out, subprocess.Popen(
        ["node", str(HERE / script)], stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
        env={**os.environ, "WEIR_SOURCE_ROOT": str(tap.ROOT), "WEIR_CHROMIUM": chromium() or "",
             **environment})


def pass_on(check, script, out, process, seconds=SECONDS):
    """Each of its lines as a check of ours; a script that dies or says nothing has failed."""
    try:
        status = process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        status = f"nothing within {seconds} s"
    finally:
        # With all that it has started: a server that outlives its test takes a core from the next.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    out.seek(0)
    said = out.read()
    out.close()
    count = 0
    lines = said.splitlines()
    for line in lines:
        if line.startswith("# after "):
            print(line)  # figures, for who reads the log
    for number, line in enumerate(lines):
        if match := LINE.match(line):
            count += 1
            why = []
            for more in lines[number + 1:]:
                if not more.startswith("#"):
                    break
                why.append(more)
            check(match[2], not match[1], "\n".join(why))
    check(f"{script} came to its end", status in (0, 1) and f"1..{count}" in said and count > 0,
          f"{status}\n{said[-4000:]}")


def left_open():
    with tap.plan() as check, server.folder():
        if why := missing():
            check.skip("a page that is left open", why)
            return
        script, out, process = start("long_test.mjs", WEIR_PAGE_SECONDS=str(PAGE_SECONDS))
        pass_on(check, script, out, process, SECONDS + 3 * PAGE_SECONDS)


def main():
    with tap.plan() as check, server.folder():
        if not shutil.which("node"):
            check.skip("the page's modules", missing())
        else:
            pass_on(check, *start("units_test.mjs"))
            pass_on(check, *start("stream_test.mjs"))
        if why := missing():
            check.skip("the page in a browser", why)
            return
        write_configs(port := free_port())
        pass_on(check, *start("page_test.mjs"))
        for script in ("server_test.mjs", "remote_test.mjs"):
            pass_on(check, *start(script, WEIR_COMMAND=server.WEIR, WEIR_TOKEN=TOKEN,
                                  WEIR_OTHER_TOKEN=OTHER_TOKEN,
                                  WEIR_URL=f"http://127.0.0.1:{port}"))


if __name__ == "__main__":
    if sys.argv[1:] == ["--left-open"]:
        left_open()
    else:
        main()
