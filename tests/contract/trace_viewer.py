# SPDX-License-Identifier: Apache-2.0
"""What `weir trace` writes, read by somebody else: Catapult's trace viewer (chrome://tracing), in a
real browser. tests/browser/trace_test.mjs asks it what it sees. Without node, chromium, what drives
it, or the viewer, which Debian has in golang-src, it is skipped."""
import glob
import os
import pathlib

import page
import server
import tap

VIEWERS = ("/usr/share/go-*/src/cmd/trace/static",
           "/usr/share/go-*/src/internal/trace/traceviewer/static")
CONFIG = """
weir.engine { name = "a \\"quoted\\" <b> ü", latency-every = 8 }
weir.admin.socket = "a.sock"
weir.engine.threads = [{ dispatchers = [""] }, { dispatchers = [side] }, { dispatchers = [side] }]
weir.components {
  fast { type = generator, rate = 3000, keys = 10, template = "${key} ${random:900}" }
  slow { type = timer, interval = 5ms }
  work { type = filter, feeds = [fast], pattern = "^\\\\S+", to = out, dispatcher = side }
  seen { type = count, pattern = "^\\\\S+", feeds = [fast, slow], to = out }
  out { type = discard }
}
"""


def viewer():
    """The folder with it; WEIR_TRACE_VIEWER says another one. "" if there is none."""
    said = os.environ.get("WEIR_TRACE_VIEWER")
    places = [said] if said else [place for pattern in VIEWERS for place in glob.glob(pattern)]
    return next((place for place in places
                 if (pathlib.Path(place) / "trace_viewer_full.html").exists()), "")


def missing():
    if why := page.missing():
        return why
    return "" if viewer() else "no trace viewer: apt-get install golang-src"


def record(check, name, *arguments):
    status, out, error = server.weir("trace", "-s", "a.sock", "-o", name, *arguments)
    check(f"{name} is recorded", status == 0, out + error)
    return str(pathlib.Path(name).resolve())


def main():
    with tap.plan() as check, server.folder():
        if why := missing():
            check.skip("the trace viewer reads what was recorded", why)
            return
        pathlib.Path("a.conf").write_text(CONFIG, encoding="utf-8")
        with server.Server("a.conf") as running:
            server.until(lambda: running.process.poll() is not None or
                         "it runs" in running.said() + running.printed())
            if not check("a server runs", running.process.poll() is None, running.said()):
                return
            files = [record(check, "whole.json", "--seconds", "0.5"),
                     record(check, "cut.json", "--seconds", "0.3", "--records", "64")]
            check("the server ends well", running.stop() == 0, running.said())
        page.pass_on(check, *page.start("trace_test.mjs", WEIR_TRACE_FILES=":".join(files),
                                        WEIR_TRACE_VIEWER=viewer()))


main()
