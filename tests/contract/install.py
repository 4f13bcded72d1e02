# SPDX-License-Identifier: Apache-2.0
"""`meson install` into a DESTDIR gives what a program outside the tree needs: it builds with
pkg-config alone, against the shared and the static library, and runs."""
import os
import pathlib
import platform
import re
import shlex
import shutil
import sys
import tempfile

import tap

# Links and runs whatever stage the engine is in; what it does is the other tests' matter.
PROGRAM = r"""
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
    if (weir_version() != WEIR_VERSION) {
        fprintf(stderr, "headers are %d, the library %u\n", WEIR_VERSION, weir_version());
        return 1;
    }
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(NULL, &error);
    if (weir_engine_start(engine, &error) == WEIR_OK) {
        error.status = weir_engine_stop(engine, 0, NULL);
    }
    weir_engine_destroy(engine);
    printf("%s\n", weir_status_name(error.status));
    return weir_error_print(&error);
}
"""
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
TREE_VARIABLES = ("DESTDIR", "PKG_CONFIG_PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH")


def build_and_run(check, sentence, source, config, link, environment):
    """Compiles with what pkg-config says, runs the result, expects success."""
    good, flags = tap.run(*config, env=environment)
    if not check(f"pkg-config answers for a program linked {sentence}", good, flags):
        return None
    program = source.parent / f"program-{sentence}"
    good, text = tap.run("cc", *STRICT, source, *link, *shlex.split(flags), "-o", program,
                         env=environment)
    if not check(f"a program outside the tree builds, linked {sentence}", good, text):
        return None
    good, text = tap.run(program, env=environment)
    check(f"and runs, linked {sentence}", good and text.strip() == "WEIR_OK", text)
    return program


SIMULATED = r"""
#include <stdio.h>
#include <weir/sim.h>
#include <weir/weir.h>

static void body(void *unused)
{
    (void)unused;
    weir_engine_destroy(weir_engine_create(NULL, NULL));
}

int main(void)
{
    weir_sim_result result = WEIR_SIM_RESULT_INIT;
    weir_status status = weir_sim_explore(WEIR_SIM(.runs = 3), body, NULL, &result);
    puts(result.failed ? result.why : weir_status_name(status));
    return 0;
}
"""


def check_simulator(check, destination, library, program, environment):
    """What -Dsim=true installs: `program` is one that is linked with the plain library."""
    names = {p.name for p in destination.rglob("*")}
    wanted = {"weir-sim", "weir-sim.pc", "libweir-sim.so", "libweir-sim.so.0",
              "libweir-sim-posix.so.0", "weir-sim.1"}
    check("the simulator's libraries and command are there", wanted <= names, wanted - names)
    source = program.parent / "simulated.c"
    source.write_text(SIMULATED)
    build_and_run(check, "simulated", source, ["pkg-config", "--cflags", "--libs", "weir-sim"],
                  [f"-Wl,-rpath,{library}"], environment)
    command = next(destination.rglob("bin/weir"))
    # The command is made to be found under its prefix; here it is staged.
    staged = {**environment, "LD_LIBRARY_PATH": str(library)}
    good, said = tap.run(command, "sim", program, "--runs", "5", env=staged)
    check("the installed weir sim runs a program", good and " ok\n" in said, said)


def main(check, folder):
    clean = {k: v for k, v in os.environ.items() if k not in TREE_VARIABLES}
    destination = folder / "destination"
    meson = [shutil.which("meson")] if shutil.which("meson") else [sys.executable, "-m", "mesonbuild"]
    good, text = tap.run(*meson, "install", "--no-rebuild", "-C", tap.BUILD, "--destdir",
                         destination, env=clean)
    if not check("meson installs into a DESTDIR", good, text):
        return
    installed = {p.relative_to(destination).as_posix() for p in destination.rglob("*")}
    names = {pathlib.PurePosixPath(name).name for name in installed}
    wanted = {"weir.pc", "libweir.so", "libweir.so.0", "libweir.a"}
    check("libraries and weir.pc are there", wanted <= names, sorted(wanted - names))
    headers = {p.name for p in (tap.ROOT / "include/weir").glob("*.h*")}
    found = {pathlib.PurePosixPath(n).name for n in installed if "/include/weir/" in n}
    check("all public headers are there and nothing else", headers == found, headers ^ found)
    if "WEIR_COMMAND" in os.environ:
        check("the command is there", any(n.endswith("bin/weir") for n in installed), installed)
        good, text = tap.run(next(destination.rglob("bin/weir")), "bench", "list", env=clean)
        check("and finds weir-bench beside it", good and "w1 " in text, text)

    pc = next(destination.rglob("weir.pc"))
    library = next(destination.rglob("libweir.so")).parent
    environment = {**clean, "PKG_CONFIG_LIBDIR": str(pc.parent),
                   "PKG_CONFIG_SYSROOT_DIR": str(destination)}
    good, version = tap.run("pkg-config", "--modversion", "weir", env=environment)
    header = (tap.ROOT / "include/weir/base.h").read_text()
    major, minor = re.findall(r"#define WEIR_VERSION_M(?:AJ|IN)OR (\d+)", header)
    check("weir.pc tells the version of the headers",
          good and version.startswith(f"{major}.{minor}."), version)

    outside = folder / "outside"
    outside.mkdir()
    source = outside / "program.c"
    source.write_text(PROGRAM)
    shared = build_and_run(check, "shared", source, ["pkg-config", "--cflags", "--libs", "weir"],
                           [f"-Wl,-rpath,{library}"], environment)
    if shared:
        _, needed = tap.run("readelf", "-d", "-W", shared)
        check("the shared one needs libweir.so.0", "[libweir.so.0]" in needed, needed)
        if "WEIR_SIM_COMMAND" in os.environ:
            check_simulator(check, destination, library, shared, environment)
    build_and_run(check, "static", source, ["pkg-config", "--static", "--cflags", "--libs", "weir"],
                  ["-static"], environment)
    if shutil.which("c++"):
        source = outside / "program.cpp"
        source.write_text(PROGRAM)
        good, flags = tap.run("pkg-config", "--cflags", "--libs", "weir", env=environment)
        good, text = tap.run("c++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                             source, *shlex.split(flags), "-o", outside / "program-cpp",
                             env=environment)
        check("the same program builds as C++17", good, text)


if platform.system() != "Linux":
    sys.exit(77)
with tap.plan() as plan, tempfile.TemporaryDirectory() as temporary:
    main(plan, pathlib.Path(temporary))
