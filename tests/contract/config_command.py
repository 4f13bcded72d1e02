# SPDX-License-Identifier: Apache-2.0
"""What users see of `weir config render` and `weir config get`: output, messages, exit statuses;
files that are not there, too large, folders; full disks."""
import json
import os
import pathlib
import re
import subprocess
import tempfile

import tap

WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))


def weir(*arguments, **options):
    """(exit status, standard output, standard error)"""
    done = subprocess.run([WEIR, "config", *arguments], capture_output=True, check=False,
                          timeout=tap.TIMEOUT_S, **options)
    return (done.returncode, done.stdout.decode("utf-8", "backslashreplace"),
            done.stderr.decode("utf-8", "backslashreplace"))


def check_usage(check):
    helps = {
        ("--help",): ("render", "get", "--help"),
        ("-h",): ("render", "get"),
        ("render", "--help"): ("FILE", "-D", "exit status"),
        ("get", "--help"): ("--as", "--raw", "duration-ns", "has-path", "int-list", "exit status"),
    }
    for arguments, words in helps.items():
        status, out, error = weir(*arguments)
        check(f"weir config {' '.join(arguments)} explains it, in 82 columns",
              status == 0 and all(word in out for word in words) and error == "" and
              max(map(len, out.splitlines())) <= 82, out + error)
    page = (tap.ROOT / "docs/man/weir-config.1").read_text(encoding="utf-8")
    commands = re.findall(r"^  (\w+) ", weir("--help")[1], re.M)
    for command in commands:
        _, out, _ = weir(command, "--help")
        missing = [word for word in re.findall(r"(?<!\w)--([a-z-]+)", out)
                   if f"Fl -{word}" not in page and f"-{word} " not in page]
        check(f"weir-config(1) has weir config {command}, with every option of its help",
              f".Ss weir config {command}\n" in page and not missing, missing)
    wrong = [
        ([], "usage: weir config"),
        (["rendr"], "did you mean 'render'?"),
        (["no-such-thing"], "the commands are: render, get"),
        (["-x"], "unknown option -x, a command comes first"),
        (["render"], "which file?"),
        (["render", "--hlep"], "did you mean --help?"),
        (["render", "-D"], "-D needs a value"),
        (["get"], "takes a file and a path"),
        (["get", "a.conf"], "takes a file and a path"),
        (["get", "a.conf", "a", "b"], "takes a file and a path"),
        (["get", "a.conf", "a", "--as"], "--as needs a value"),
        (["get", "a.conf", "a", "--as", "strng"], "did you mean string?"),
        (["get", "a.conf", "a", "--as", "colour"], "there are: boolean, bytes, double"),
        (["get", "a.conf", "a", "--raw=1"], "--raw takes no value"),
    ]
    for arguments, sentence in wrong:
        status, out, error = weir(*arguments)
        check(f"weir config {' '.join(arguments)!r} is wrong usage and says why",
              status == 2 and sentence in error and out == "", f"{status} {out} {error}")


def check_render(check, folder):
    (folder / "a.conf").write_text('b = 1.50\na { y = ${a.x}, x = 007 }\nl = [ "q\\"\\n", yes ]\n',
                                   encoding="utf-8")
    (folder / "b.conf").write_text("a.x = 2, c = null", encoding="utf-8")
    (folder / "c.yaml").write_text("a: {x: 3}\nt: !!x.Y {}\nd: *no\n", encoding="utf-8")
    (folder / "d.yml").write_text("a: {x: 3}\nt: !!x.Y {}\nd: ${x}\n", encoding="utf-8")
    (folder / "e.json").write_text('{"j": [1, {"k": true}]}', encoding="utf-8")
    (folder / "f.properties").write_text("p.q = r\n", encoding="utf-8")
    status, out, error = weir("render", "a.conf", cwd=folder)
    check("the tree is printed as JSON, keys sorted, two spaces a level",
          status == 0 and error == "" and out == """{
  "a": {
    "x": 7,
    "y": 7
  },
  "b": 1.50,
  "l": [
    "q\\"\\n",
    "yes"
  ]
}
""", f"{status} {out} {error}")
    status, out, error = weir("render", "a.conf", "b.conf", cwd=folder)
    check("later files win over earlier ones, and feed their substitutions",
          status == 0 and json.loads(out)["a"] == {"x": 2, "y": 2} and
          json.loads(out)["c"] is None, f"{status} {out} {error}")
    status, out, error = weir("render", "-D", "a.x=9", "a.conf", "-D", "p=/a:/b", "b.conf",
                              cwd=folder)
    check("-D wins over all files, and takes what is no HOCON as a string",
          status == 0 and json.loads(out)["a"] == {"x": 9, "y": 9} and
          json.loads(out)["p"] == "/a:/b", f"{status} {out} {error}")
    status, out, error = weir("render", "e.json", "f.properties", cwd=folder)
    check("JSON and Java properties are read by their names",
          status == 0 and json.loads(out) == {"j": [1, {"k": True}], "p": {"q": "r"}},
          f"{status} {out} {error}")
    status, out, error = weir("render", "-", input=b"a = ${b}, b = 2", cwd=folder)
    check("- is HOCON on standard input", status == 0 and json.loads(out) == {"a": 2, "b": 2},
          f"{status} {out} {error}")
    check_yaml(check, folder)


def check_yaml(check, folder):
    status, out, error = weir("render", "a.conf", "d.yml", cwd=folder)
    if "YAML is not built into this weir" in error:
        check.skip("YAML is read over HOCON", "weir was built without libfyaml")
        return
    check("YAML is read over HOCON; tags of one's own are names, substitutions plain text",
          status == 0 and json.loads(out)["a"] == {"x": 3, "y": 3} and
          json.loads(out)["t"] == "Y" and json.loads(out)["d"] == "${x}",
          f"{status} {out} {error}")
    status, out, error = weir("render", "c.yaml", cwd=folder)
    check("what is wrong with YAML is told with its place",
          status == 2 and error == "c.yaml:3:5: there is no anchor &no above this alias\n",
          f"{status} {out} {error}")
    laughs = "a0: &a0 [lol]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30))
    (folder / "laughs.yaml").write_text(laughs, encoding="utf-8")
    status, out, error = weir("render", "laughs.yaml", cwd=folder)
    check("a billion laughs are an error",
          status == 2 and "aliases stand for more than can be read" in error and out == "", error)


def check_render_errors(check, folder):
    (folder / "bad1.conf").write_text("a = [1\nb = }\n", encoding="utf-8")
    (folder / "bad2.conf").write_text("x = ${nope}\ny = ${nope.too}\n", encoding="utf-8")
    status, out, error = weir("render", "bad1.conf", "bad2.conf", cwd=folder)
    check("errors are one a line with their place, on stderr, and nothing is printed",
          status == 2 and out == "" and error.startswith("bad1.conf:2:"), f"{status} {out} {error}")
    status, out, error = weir("render", "bad2.conf", cwd=folder)
    check("all of them are told", status == 2 and out == "" and
          [line.split(" ")[0] for line in error.splitlines()] ==
          ["bad2.conf:1:5:", "bad2.conf:2:5:"], f"{status} {out} {error}")
    for name, kind in (("nope.conf", "HOCON"), ("nope.yaml", "YAML")):
        status, out, error = weir("render", name, cwd=folder)
        check(f"a {kind} file that is not there is named", status == 2 and out == "" and
              (f"{name}: cannot read it: No such file" in error or "not built into" in error),
              error)
        (folder / f"folder-{name}").mkdir()
        status, out, error = weir("render", f"folder-{name}", cwd=folder)
        check(f"a folder is no {kind} file", status == 2 and out == "" and
              ("cannot read it: it is a folder" in error or "not built into" in error), error)
    if os.geteuid() == 0:
        check.skip("a file that may not be read is named", "root may read everything")
    else:
        (folder / "secret.conf").write_text("a = 1", encoding="utf-8")
        (folder / "secret.conf").chmod(0)
        status, out, error = weir("render", "secret.conf", cwd=folder)
        check("a file that may not be read is named",
              status == 2 and "secret.conf: cannot read it: Permission denied" in error, error)
    status, out, error = weir("render", "-", stdin=open("/dev/zero", "rb"))
    check("standard input has a bound", status == 2 and
          "standard input: cannot read it: it is larger than 16777216 bytes" in error, error)
    (folder / "hostile.conf").write_bytes(b'"\\u001b[2J\xe2\x80\xae" = ${nope}\n')
    status, out, error = weir("render", "hostile.conf", cwd=folder)
    check("a hostile file cannot write to the terminal",
          status == 2 and "\x1b" not in error and "\u202e" not in error, error)
    deep = "a=" * 1 + "[" * 100000
    (folder / "deep.conf").write_text(deep, encoding="utf-8")
    status, out, error = weir("render", "deep.conf", cwd=folder)
    check("depth is an error, not a crash", status == 2 and error != "", f"{status}")


def check_full_disk(check, folder):
    for arguments in (["render", "a.conf"], ["get", "a.conf", "a"], ["get", "--help"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([WEIR, "config", *arguments], stdout=full, cwd=folder,
                                  stderr=subprocess.PIPE, text=True, check=False,
                                  timeout=tap.TIMEOUT_S)
        check(f"weir config {arguments[0]}: what cannot be written is a failure",
              done.returncode == 1 and "cannot write to standard output" in done.stderr,
              f"{done.returncode} {done.stderr}")


def check_get(check, folder):
    (folder / "g.conf").write_text(
        's = "q\\"\\n", o { "a.b" = 1 }, n = null, d = 1.5s, bad = 10 parsecs\n'
        "l = [1, two], z { 1 = b, 0 = a }, r = 0.1, big = 1e400\n", encoding="utf-8")
    rows = [
        (["s"], '"q\\"\\n"\n'),
        (["s", "--raw"], 'q"\n\n'),
        (["s", "--raw", "--as", "string"], 'q"\n\n'),
        (["o"], '{"a.b": 1}\n'),
        (['o."a.b"'], "1\n"),
        (["n"], "null\n"),
        (["big"], "1e400\n"),
        (["d", "--as", "duration-ns"], "1500000000\n"),
        (["d", "--as=duration-ms"], "1500\n"),
        (["r", "--as", "double"], "0.1\n"),
        (["z", "--as", "list"], '["a", "b"]\n'),
        (["d", "-D", "d=2m", "--as", "duration-ms"], "120000\n"),
        (["d", "--define=d=2m"], '"2m"\n'),
        (["z", "--as", "string-list"], '["a", "b"]\n'),
        (["n", "--as", "has-path"], "false\n"),
        (["nope", "--as", "has-path"], "false\n"),
        (["o", "--as", "has-path"], "true\n"),
    ]
    for arguments, expected in rows:
        status, out, error = weir("get", "g.conf", *arguments, cwd=folder)
        check(f"get {' '.join(arguments)}", status == 0 and out == expected and error == "",
              f"{status} {out} {error}")
    wrong = [
        (["nope"], 1, "nope: there is no such key\n"),
        (["bad", "--as", "duration-ns"], 2,
         "g.conf:1:57: bad: '10 parsecs' is no duration: units are ns, us, ms, s, m, h, d\n"),
        (["l", "--as", "int-list"], 2, "l: 'two' is no whole number"),
        (["n", "--as", "int"], 2, "null is no whole number"),
        (["big", "--as", "double"], 2, "1e400 is beyond"),
        (["o..x"], 2, "o"),
    ]
    for arguments, expected_status, sentence in wrong:
        status, out, error = weir("get", "g.conf", *arguments, cwd=folder)
        check(f"get {' '.join(arguments)} says what is wrong",
              status == expected_status and out == "" and sentence in error,
              f"{status} {out} {error}")


with tap.plan() as plan, tempfile.TemporaryDirectory() as temporary:
    check_usage(plan)
    check_render(plan, pathlib.Path(temporary))
    check_render_errors(plan, pathlib.Path(temporary))
    check_full_disk(plan, pathlib.Path(temporary))
    check_get(plan, pathlib.Path(temporary))
