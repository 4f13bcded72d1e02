# SPDX-License-Identifier: Apache-2.0
"""What users see of `weir config check`, `show`, `diff` and `reference`: output, messages, exit
statuses, layers, secrets of the environment."""
import json
import os
import pathlib
import subprocess
import tempfile

import tap

WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))
GOOD = "weir.engine { batch-max = 8, block-max = 1000ms }\n"
SAME = "weir { engine { block-max = 1s\n batch-max = 8 } }\n"
BAD = "weir.engine {\n  batch-max = 0\n  btch-max = 1\n}\n"
FLOWS = "weir.flows.sessions { policy = fail, flow-idle-timeout = 60s }\n"
WARNED = "weir.engine.backoff { base-delay-micros = 20ms, max-delay-micros = 30ms }\n"


def weir(*arguments, environment=None):
    """(exit status, standard output, standard error)"""
    done = subprocess.run([WEIR, "config", *arguments], capture_output=True, text=True, check=False,
                          env=environment or {}, timeout=tap.TIMEOUT_S)
    return done.returncode, done.stdout, done.stderr


def check_check(check):
    check("a good file is ok", weir("check", "good.conf") == (0, "good.conf: ok\n", ""),
          weir("check", "good.conf"))
    wanted = ("bad.conf:2:15: weir.engine.batch-max: 0 is not >= 1\n"
              "bad.conf:3:14: weir.engine.btch-max: is no key; did you mean weir.engine.batch-max?\n"
              "bad.conf: 2 errors\n")
    check("all that is wrong is told on stderr, in order, and ends with 2",
          weir("check", "bad.conf") == (2, "", wanted), weir("check", "bad.conf"))
    told = ("warned.conf:1:43: weir.engine.backoff.base-delay-micros: warning: 20ms: from 10ms on "
            "threads sleep where they should work\n")
    check("a warning does not fail",
          weir("check", "warned.conf") == (0, "warned.conf: ok, 1 warning\n", told),
          weir("check", "warned.conf"))
    check("unless that is asked for",
          weir("check", "--strict", "warned.conf") == (2, "", told + "warned.conf: 1 warning\n"),
          weir("check", "--strict", "warned.conf"))
    check("a later file mends an earlier one",
          weir("check", "warned.conf", "mend.conf")[:2] == (0, "warned.conf, mend.conf: ok\n"),
          weir("check", "warned.conf", "mend.conf"))
    check("and so does -D", weir("check", "warned.conf", "-D",
                                 "weir.engine.backoff.base-delay-micros=1")[0] == 0, "")
    status, out, error = weir("check", "absent.conf")
    check("a file that is not there is named", status == 2 and out == "" and
          error.startswith("absent.conf: "), error)
    status, out, error = weir("check", "broken.conf", "bad.conf")
    check("an error of syntax has its place", status == 2 and "broken.conf:2:" in error, error)
    piped = subprocess.run([WEIR, "config", "check", "-"], input=BAD, capture_output=True, text=True,
                           check=False, timeout=tap.TIMEOUT_S, env={})
    check("- is standard input", piped.returncode == 2 and
          piped.stderr.startswith("standard input:2:15: weir.engine.batch-max"), piped.stderr)
    check("without a file the usual ones are read", weir("check")[0] == 2, weir("check"))
    check("or the one in WEIR_CONFIG", weir("check", environment={"WEIR_CONFIG": "good.conf"})
          == (0, "configuration: ok\n", ""), "")
    check("the environment is checked, too",
          weir("check", "good.conf", environment={"WEIR__ENGINE__BATCH_MX": "1"})[::2]
          == (2, "environment WEIR__ENGINE__BATCH_MX: weir.engine.batch-mx: is no key; did you mean "
              "weir.engine.batch-max?\ngood.conf: 1 error\n"),
          weir("check", "good.conf", environment={"WEIR__ENGINE__BATCH_MX": "1"}))
    check("unless it is not to be looked at",
          weir("check", "--no-environment", "good.conf",
               environment={"WEIR__ENGINE__BATCH_MX": "1"})[0] == 0, "")


def check_show(check):
    status, out, error = weir("show", "good.conf", "-D", "weir.engine.name=x",
                              environment={"WEIR__ENGINE__TIMERS_MAX": "7"})
    lines = {line.split(" = ")[0]: " ".join(line.split(" = ")[1].split()) for line in
             out.splitlines()}
    check("show says what counts and where it came from", status == 0 and error == "" and
          lines["weir.engine.batch-max"] == "8 # good.conf:1:27" and
          lines["weir.engine.block-max"] == "1s # good.conf:1:42" and
          lines["weir.engine.name"] == '"x" # -D' and
          lines["weir.engine.timers-max"] == "7 # environment WEIR__ENGINE__TIMERS_MAX" and
          lines["weir.engine.overflow"] == "fail # built-in", out + error)
    status, out, error = weir("show", "--json", "good.conf")
    rows = {row["key"]: row for row in json.loads(out)["settings"]}
    check("and as JSON", status == 0 and rows["weir.engine.batch-max"] ==
          {"key": "weir.engine.batch-max", "value": 8, "from": "good.conf:1:27"} and
          rows["weir.engine.thread-dispatcher-assignment"]["value"] == [[""]], out)
    status, out, error = weir("show", "bad.conf")
    check("a wrong file is not shown", status == 2 and out == "" and "0 is not >= 1" in error,
          out + error)


def check_diff(check):
    check("files that mean the same are the same", weir("diff", "good.conf", "same.conf")
          == (0, "", ""), weir("diff", "good.conf", "same.conf"))
    status, out, error = weir("diff", "good.conf", "mend.conf")
    words = [" ".join(line.split()) for line in out.splitlines()]
    check("a difference is shown from both sides, and ends with 1", status == 1 and error == "" and
          "- weir.engine.batch-max = 8 # good.conf:1:27" in words and
          "+ weir.engine.batch-max = 64 # built-in" in words and
          "+ weir.engine.backoff.base-delay-micros = 1us # mend.conf:1:43" in words, out + error)
    check("a wrong file ends with 2", weir("diff", "good.conf", "bad.conf")[0] == 2, "")
    check("two files, no more and no less",
          weir("diff", "good.conf")[0] == 2 and weir("diff", *["good.conf"] * 3)[0] == 2 and
          "needs two files, not 1" in weir("diff", "good.conf")[2], weir("diff", "good.conf"))


def check_flows(check):
    check("routers are checked", weir("check", "flows.conf") == (0, "flows.conf: ok\n", ""),
          weir("check", "flows.conf"))
    status, out, error = weir("show", "flows.conf",
                              environment={"WEIR__FLOWS__SESSIONS__WORKERS": "3"})
    lines = [" ".join(line.split()) for line in out.splitlines() if line.startswith("weir.flows.")]
    check("and shown, with what is said of them", status == 0 and error == "" and
          "weir.flows.sessions.policy = fail # flows.conf:1:32" in lines and
          "weir.flows.sessions.flow-idle-timeout = 1m # flows.conf:1:58" in lines and
          "weir.flows.sessions.workers = 3 # environment WEIR__FLOWS__SESSIONS__WORKERS" in lines,
          out + error)
    status, out, error = weir("diff", "flows.conf", "flows.conf", "-D",
                              "weir.flows.sessions.policy=block")
    check("a setting over both files is no difference", status == 0 and out == "", out + error)
    status, out, error = weir("diff", "flows.conf", "good.conf")
    check("a router that only one file has is a difference", status == 1 and
          "- weir.flows.sessions.policy = fail" in out, out + error)
    status, out, error = weir("get", "flows.conf", "weir.flows.sessions.policy", "--raw")
    check("one of its values can be had", (status, out.strip()) == (0, "fail"), out + error)
    text = weir("reference")[1]
    check("the reference has them", '# flows { "NAME" {' in text and "flow-idle-timeout" in text,
          text)
    check("and so has the manual", ".It Cm weir.flows.NAME.policy" in
          weir("reference", "--manual")[1], "")
    status, out, error = weir("check", "good.conf", "-D", "weir.flows.a.wokers=1")
    check("a slip is told with the nearest key", status == 2 and
          "weir.flows.a.wokers: is no key; did you mean weir.flows.a.workers?" in error, error)


def check_usage(check):
    for command in ("check", "show", "diff", "reference"):
        status, out, error = weir(command, "--help")
        check(f"weir config {command} --help explains it", status == 0 and error == "" and
              "exit status" in out and max(map(len, out.splitlines())) <= 92, out)
        status, out, error = weir(command, "--hlep")
        check(f"weir config {command} refuses what it does not know", status == 2 and out == "" and
              f"try: weir config {command} --help" in error, error)
    check("the reference is a file without faults",
          weir("reference")[0] == 0 and "default-queue-size = 10000" in weir("reference")[1], "")


with tap.plan() as plan, tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name, text in {"good.conf": GOOD, "same.conf": SAME, "bad.conf": BAD, "warned.conf": WARNED,
                       "application.conf": BAD, "flows.conf": FLOWS, "broken.conf": "a = 1\n= }\n",
                       "mend.conf": "weir.engine.backoff.base-delay-micros   = 1\n"}.items():
        pathlib.Path(name).write_text(text)
    check_check(plan)
    check_show(plan)
    check_diff(plan)
    check_flows(plan)
    check_usage(plan)
