# SPDX-License-Identifier: Apache-2.0
"""The scripts of dist/bpftrace, each attached to a server that has what it shows."""
import pathlib
import re
import shutil
import signal
import subprocess

import server
import tap

SCRIPTS = tap.ROOT / "dist/bpftrace"
# A mailbox of one event, for a fan-out that sends many in a turn; and threads that sleep at once.
CONFIG = """
weir.admin.socket = a.sock
weir.engine.threads = [{ name = w, dispatchers = [""], idle = park }, { name = io, dispatchers = [io] }]
weir.components {
  ticks { type = generator, rate = 20000, thread = io, feed.slow-consumer = block }
  pass { type = fan-out, feeds = [ticks], targets = [drops] }
  drops { type = count, mailbox-max = 1, overflow = drop-newest }
}
"""
# A script, and what it prints of such a server.
SHOWN = [("drops.bt", r"^@newest\[\d+\]: \d+$"), ("sleeps.bt", r"^@wakes\[\d+\]: \d+$"),
         ("turns.bt", r"^@turn_ns\[\d+\]:")]


def attach(script, process):
    """What it has printed when it was told to end, and why it could not run."""
    with subprocess.Popen(["bpftrace", "-p", str(process), str(SCRIPTS / script)],
                          stdout=open("said.txt", "wb"), stderr=subprocess.PIPE) as bpftrace:
        said = pathlib.Path("said.txt")
        wanted = dict(SHOWN)[script]
        server.until(lambda: bpftrace.poll() is not None or
                     re.search(wanted, said.read_text(errors="replace"), re.MULTILINE), 30)
        if bpftrace.poll() is None:
            bpftrace.send_signal(signal.SIGINT)
        try:
            error = bpftrace.communicate(timeout=tap.TIMEOUT_S)[1]
        except subprocess.TimeoutExpired:
            bpftrace.kill()
            error = bpftrace.communicate()[1]
    return said.read_text(errors="replace"), error.decode(errors="replace")


with tap.plan() as check:
    if shutil.which("bpftrace") is None:
        check.skip("the scripts show what a server does", "bpftrace is not installed")
    else:
        with server.folder():
            pathlib.Path("f.conf").write_text(CONFIG, encoding="utf-8")
            with server.Server("f.conf") as weir:
                server.until(lambda: server.weir("admin", "-s", "a.sock", "health")[0] == 0)
                for name, pattern in SHOWN:
                    shown, complaint = attach(name, weir.process.pid)
                    sentence = f"{name} shows what a server does"
                    if not shown.startswith("Attaching") or "0 probes" in shown[:30]:
                        check.skip(sentence, "bpftrace cannot attach here: " +
                                   (complaint or shown).strip()[:160])
                    else:
                        check(sentence, re.search(pattern, shown, re.MULTILINE), shown + complaint)
                check("and the server goes on", weir.process.poll() is None, weir.said()[-2000:])
