# SPDX-License-Identifier: Apache-2.0
"""`traceparent = FIELD`: what a line says of its trace comes out again, of a sink and of a trace;
over files, the standard input and output, TCP, Unix sockets and datagrams."""
import contextlib
import json
import pathlib
import re
import socket
import subprocess
import time

import server
import tap

GIVEN = ["00-{:032x}-{:016x}-0{}".format(0xabc000 + i, 0x1000 + i, i % 2) for i in range(1, 200)]
BAD = ["", "x", "00-" + "0" * 32 + "-00f067aa0ba902b7-01", GIVEN[0].upper(), GIVEN[0] + "-",
       "ff" + GIVEN[0][2:], 7, True]


def line(number, parent=None, **more):
    said = {"n": number, **more}
    if parent is not None:
        said["from"] = {"tp": parent}
    return json.dumps(said)


def config(source, sink="type = file-sink, path = out, flush = event, traceparent = tp", **more):
    pathlib.Path("a.conf").write_text(f"""
weir.engine.latency-every = {more.get("every", 1)}
weir.admin.socket = "a.sock"
weir.components {{
  in {{ {source}, traceparent = from.tp }}
  pass {{ type = filter, feeds = [in], pattern = ".", to = out }}
  out {{ {sink} }}
}}
""", encoding="utf-8")


def admin(*words):
    return server.weir("admin", "--socket", "a.sock", "--json", *words)


def port_of():
    """Of the source, once it listens."""
    def ask():
        status, out, _ = admin("connectors")
        return status == 0 and re.search(r'"port"[^0-9]*([1-9]\d*)', out)
    return int(found[1]) if (found := server.until(ask)) else 0


@contextlib.contextmanager
def running():
    with server.Server("a.conf") as one:
        server.until(lambda: one.process.poll() is not None or
                     "it runs" in one.said() + one.printed())
        yield one


def written(count, path="out"):
    """So many lines that a sink has written, by number."""
    def there():
        lines = server.lines(path)
        return lines if len(lines) >= count else None
    return {said["n"]: said for said in map(json.loads, server.until(there) or server.lines(path))}


def check_file(check):
    """Good, none, bad, in turn: each line goes with its own, or without."""
    lines, wanted = [], {}
    for i, parent in enumerate(GIVEN[:100]):
        lines += [line(3 * i, parent), line(3 * i + 1), line(3 * i + 2, BAD[i % len(BAD)])]
        wanted[3 * i] = parent
    lines += [line(1000, None, tp="was here", **{"from": {"tp": None}}), json.dumps({"n": 1001}),
              line(1002, GIVEN[150], tp={"x": 1})]
    wanted[1002] = GIVEN[150]
    pathlib.Path("in").write_text("\n".join(lines) + "\n", encoding="utf-8")
    config("type = file, path = in, strategy = earliest")
    with running() as one:
        out = written(len(lines))
        check("the server ends well", one.stop() == 0, one.said())
    check("every line came", len(out) == len(lines), str(len(out)))
    wrong = [n for n, said in out.items() if n in wanted and said.get("tp") != wanted[n]]
    check("each that had one has it in the sink's field", not wrong, str([out[n] for n in wrong]))
    strange = [said for n, said in out.items() if n not in wanted and n < 1000 and "tp" in said]
    check("those without, and those with a bad one, have none", not strange, str(strange))
    check("what a sink's field held of a line without stays", out[1000].get("tp") == "was here")
    check("bad ones are reported, at most one a second",
          1 <= one.said().count("has no traceparent where one should be") < 10, one.said())


def recorded():
    """The events of the recording that is over."""
    text, cursor = "", 0
    while cursor is not None:
        answer = json.loads(admin("trace", "read", str(cursor))[1])["rows"][0]
        text += answer["text"]
        cursor = answer["next"] if answer["more"] else None
    return json.loads(text)["traceEvents"]


def check_trace(check):
    """The handlers of a recording show it: of the first processor and of what that passes on."""
    pathlib.Path("in").write_text("", encoding="utf-8")
    config("type = file, path = in, strategy = earliest")
    with running() as one:
        check("a trace begins", admin("trace", "start")[0] == 0)
        with open("in", "a", encoding="utf-8") as more:
            more.write("\n".join(line(n, parent) for n, parent in enumerate(GIVEN)) + "\n")
        written(len(GIVEN))
        check("it ends", admin("trace", "stop")[0] == 0)
        events = recorded()
        check("the server ends well after it", one.stop() == 0, one.said())
    shown = {}
    for event in events:
        if event["ph"] == "X" and event["cat"] == "handler":
            shown.setdefault(event["args"].get("traceparent"), []).append(event["args"]["sender"])
    check("every one that was measured shows a traceparent", None not in shown, str(shown))
    both = [parent for parent in GIVEN if len(shown.get(parent, [])) >= 2]
    check("the handler that got it and the one behind it show the same", len(both) > 10,
          str(list(shown.items())[:5]))
    check("none is made up", set(shown) <= set(GIVEN), str(set(shown) - set(GIVEN)))


def send_lines(kind, where, lines):
    family = socket.AF_UNIX if kind == "unix" else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM) as s:
        s.connect(where)
        for text in lines:
            s.sendall((text + "\n").encode())


def check_sources(check):
    for kind, source in (("tcp", "type = tcp, port = 0, format = json-lines"),
                         ("udp", "type = udp, port = 0"), ("unix", "type = unix, path = in.sock")):
        pathlib.Path("out").unlink(missing_ok=True)
        config(source)
        with running() as one:
            where = "in.sock" if kind == "unix" else ("127.0.0.1", port_of())
            send_lines(kind, where, [line(1, GIVEN[0]), line(2), line(3, GIVEN[1])])
            out = written(3)
            one.stop()
        check(f"{kind}: a line's traceparent comes out of the sink", len(out) == 3 and
              [out[n].get("tp") for n in (1, 2, 3)] == [GIVEN[0], None, GIVEN[1]],
              str(out) + one.said())


def check_standard(check):
    config("type = stdin", "type = stdout, traceparent = tp")
    said = subprocess.run([server.WEIR, "run", "a.conf"], capture_output=True, check=False,
                          input=f"{line(1, GIVEN[5])}\nno json\n{line(2)}\n", text=True,
                          timeout=server.PATIENCE_S, env=server.clean_environment())
    lines = said.stdout.splitlines()
    check("through stdin and stdout it comes, too, and other lines stay as they were",
          len(lines) >= 3 and json.loads(lines[0]).get("tp") == GIVEN[5] and
          lines[1] == "no json" and lines[2] == line(2), said.stdout + said.stderr)


def check_sinks(check):
    pathlib.Path("in").write_text(f"{line(1, GIVEN[7])}\n", encoding="utf-8")
    for kind in ("tcp", "udp"):
        type_of = socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM
        with socket.socket(socket.AF_INET, type_of) as listener:
            listener.bind(("127.0.0.1", 0))
            listener.settimeout(server.PATIENCE_S)
            port = listener.getsockname()[1]
            if kind == "tcp":
                listener.listen()
            config("type = file, path = in, strategy = once-earliest",
                   f"type = {kind}-sink, port = {port}, traceparent = tp")
            with running() as one:
                taken = listener.accept()[0] if kind == "tcp" else listener
                taken.settimeout(server.PATIENCE_S)
                got = taken.recv(4096).decode()
                taken.close()
                one.stop()
        check(f"{kind}-sink: it is in what is sent", f'"tp":"{GIVEN[7]}"' in got, got)


def check_names(check):
    for source, sink, where in (
            ("type = stdin, traceparent = \"a..b\"", "type = stdout", "in"),
            ("type = stdin", "type = stdout, traceparent = \"a.b\"", "out")):
        pathlib.Path("a.conf").write_text(
            f"weir.components {{ in {{ {source} }}, out {{ {sink}, feeds = [in] }} }}\n",
            encoding="utf-8")
        status, _, error = server.weir("run", "a.conf")
        check(f"a field that cannot be is an error of {where}",
              status != 0 and where in error and "wanted" in error, error)


def main():
    with tap.plan() as check, server.folder():
        begun = time.monotonic()
        check_file(check)
        pathlib.Path("out").unlink(missing_ok=True)
        check_trace(check)
        check_sources(check)
        check_standard(check)
        check_sinks(check)
        check_names(check)
        print(f"# {time.monotonic() - begun:.1f} s")


main()
