# SPDX-License-Identifier: Apache-2.0
"""What `weir new` writes can be built and run as it is, and nothing that is there is touched."""
import json
import os
import pathlib
import shutil

import server
import tap

HEADERS = f"-I{tap.ROOT / 'include'}"


def make(where, *goals):
    return tap.run("make", "-C", where, *goals, f"WEIR={server.WEIR}", f"CPPFLAGS={HEADERS}")


def check_plugin(check):
    with server.folder():
        status, out, error = server.weir("new", "plugin", "every-tenth")
        check("a plugin is written", status == 0 and "make test" in out, out + error)
        text = pathlib.Path("every-tenth/every-tenth.c").read_text(encoding="utf-8")
        check("no mark is left in it", all("@NAME@" not in path.read_text(encoding="utf-8") and
                                           "@ID@" not in path.read_text(encoding="utf-8")
                                           for path in pathlib.Path("every-tenth").iterdir()), text)
        strict = ["-std=gnu11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", HEADERS]
        for compiler in tap.compilers("gcc", "clang"):
            good, said = tap.run(compiler, *strict, "every-tenth/every-tenth.c")
            check(f"{compiler} finds no fault with it", good, said)
        good, said = make("every-tenth", "test")
        check("make test builds and runs it", good and "ok: 1000 in, 100 out" in said, said)
        status, out, error = server.weir("types", "every-tenth", "--plugin",
                                         "./every-tenth/every-tenth.so")
        check("weir types knows it then", status == 0 and "every: integer" in out, out + error)
        broken = text.replace("% s->config->every != 0", "% s->config->every == 0")
        pathlib.Path("every-tenth/every-tenth.c").write_text(broken, encoding="utf-8")
        good, said = make("every-tenth", "test")
        check("its test fails if the plugin is wrong", not good and broken != text, said)
        before = {path: path.read_text(encoding="utf-8", errors="replace")
                  for path in pathlib.Path("every-tenth").iterdir()}
        status, _, error = server.weir("new", "plugin", "every-tenth")
        after = {path: path.read_text(encoding="utf-8", errors="replace")
                 for path in pathlib.Path("every-tenth").iterdir()}
        check("what is there is left as it is", status == 1 and "is there already" in error and
              before == after, error)


def check_meson(check):
    sentence = "meson builds and tests it against the installed library"
    if not shutil.which("meson"):
        check.skip(sentence, "meson is not installed")
        return
    with server.folder() as folder:
        good, said = tap.run("meson", "install", "-C", tap.BUILD, "--no-rebuild", "--destdir",
                             folder / "to", "--quiet")
        packages = sorted(pathlib.Path("to").rglob("weir.pc"))
        if not good or not packages:
            check.skip(sentence, "this build cannot be installed without a rebuild")
            return
        server.weir("new", "plugin", "tenth")
        environment = {**os.environ, "PKG_CONFIG_PATH": str(packages[0].resolve().parent),
                       "PKG_CONFIG_SYSROOT_DIR": str(folder / "to"),
                       "PATH": f"{pathlib.Path(server.WEIR).parent}:{os.environ['PATH']}"}
        good, said = tap.run("meson", "setup", "tenth/build", "tenth", env=environment)
        if good:
            tap.run("chmod", "go-w", "tenth/build", env=environment)
            good, said = tap.run("meson", "test", "-C", "tenth/build", "--print-errorlogs",
                                 env=environment)
        check(sentence, good, said)


def check_app(check):
    with server.folder():
        status, out, error = server.weir("new", "app", "shop")
        check("an application is written", status == 0 and "./run.sh" in out, out + error)
        environment = {**server.clean_environment(), "WEIR": server.WEIR, "CPPFLAGS": HEADERS}
        good, said = tap.run("shop/run.sh", "--seconds", "1", "--json", env=environment)
        sums = json.loads(said.splitlines()[-1]) if good else {"components": []}
        parts = {part["name"]: part for part in sums["components"]}
        check("it runs as it is, and handles all", good and sums["left"] == 0, said)
        handled = sum(part.get("handled", 0) for name, part in parts.items()
                      if name.startswith("work/"))
        check("what was published was worked on", good and parts["orders"]["published"] > 0 and
              handled == parts["orders"]["published"], said)
        lines = server.lines("shop/out.jsonl")
        check("and what was passed on is in the file", good and
              len(lines) == parts["out"]["handled"] > 0 and "client" in json.loads(lines[0]), said)
        good, said = make("shop/plugin", "test")
        check("its plugin has a test of its own", good, said)


def check_usage(check):
    with server.folder() as folder:
        for arguments, told in (([], "plugin or app"), (["plugn", "x"], "did you mean plugin?"),
                                (["plugin"], "needs one name"), (["app", "a", "b"], "one name"),
                                (["plugin", "Big"], "is no name"), (["plugin", "../a b"], "is no name"),
                                (["plugin", "-x"], "unknown option"), (["plugin", "x-"], "is no name"),
                                (["plugin", "x" * 41], "is no name"), (["app", "."], "is no name")):
            status, _, error = server.weir("new", *arguments)
            check(f"weir new {' '.join(arguments)}: wrong usage, told", status == 2 and told in error,
                  error)
        check("and nothing was written", not list(folder.iterdir()), "")
        status, _, error = server.weir("new", "plugin", "absent/x")
        check("a folder that is not there is named", status == 1 and "absent/x" in error, error)


with tap.plan() as CHECK:
    check_plugin(CHECK)
    check_meson(CHECK)
    check_app(CHECK)
    check_usage(CHECK)
