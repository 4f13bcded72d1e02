# SPDX-License-Identifier: Apache-2.0
"""A plugin that is built outside the tree, with what `meson install` and pkg-config give, works: in
C, and in C++, where exceptions become failures with their text. A bare throw through weir ends in
the crash report that names the processor."""
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile

import tap

TREE_VARIABLES = ("DESTDIR", "PKG_CONFIG_PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH")

PLUGIN_C = r"""
#include <weir/weir.h>

typedef struct config { int64_t times; weir_target to; } config;
static const weir_option rows[] = {
    WEIR_KEY(INT, config, times, "times", .fallback = "2", .min = 1, .max = 9),
    WEIR_KEY(TARGET, config, to, "to"),
};

typedef struct echo { const config *config; } echo;

static weir_status init(void *state, weir_component *self, const void *c, weir_error *error)
{
    (void)self;
    (void)error;
    ((echo *)state)->config = c;
    return WEIR_OK;
}

static weir_status handle(void *state, weir_turn *turn, const weir_event *event)
{
    const config *c = ((echo *)state)->config;
    weir_status status = WEIR_OK;
    for (int64_t i = 0; i < c->times && status == WEIR_OK; i++) {
        status = weir_turn_send(turn, &c->to, event);
    }
    return status;
}

static const weir_component_type type = {
    .struct_size = sizeof(type), .kind = WEIR_KIND_PROCESSOR, .name = "echo",
    .state_size = sizeof(echo), .config_size = sizeof(config), .options = rows, .option_count = 2,
    .init = init, .handler = handle,
};
static const weir_component_type *const types[] = { &type };
WEIR_PLUGIN = { WEIR_PLUGIN_HEAD, .name = "outside", .types = types, .type_count = 1 };
"""

PLUGIN_CPP = r"""
#include <weir/plugin.hpp>
#include <stdexcept>

struct settings { int64_t most; };
constexpr weir_option rows[] = {
    weir::key(WEIR_OPTION_INT, offsetof(settings, most), "most").with_fallback("4"),
};

class picky {
public:
    picky(weir_component *, const settings &s) : most_(s.most) {}
    weir_status handle(weir_turn *, const weir_event *event)
    {
        switch (event->size) {
        case 1: throw std::runtime_error("one is too few");
        case 2: throw weir::failure(WEIR_E_USER, "two are too few");
        case 3: throw 3;
        default: break;
        }
        return event->size <= most_ ? WEIR_OK : WEIR_UNHANDLED;
    }
private:
    int64_t most_;
};

class stillborn {
public:
    explicit stillborn(weir_component *) { throw std::runtime_error("not today"); }
    weir_status handle(weir_turn *, const weir_event *) { return WEIR_OK; }
};

class restless {
public:
    explicit restless(weir_component *) {}
    int32_t do_work(weir_ns &) { throw std::runtime_error("no rest"); }
};

static weir_status bare(void *, weir_turn *, const weir_event *)
{
    throw std::runtime_error("bare");
}

constexpr weir_component_type make_bare()
{
    weir_component_type t{};
    t.struct_size = sizeof(t);
    t.kind = WEIR_KIND_PROCESSOR;
    t.name = "bare";
    t.handler = bare;
    return t;
}

constexpr weir_component_type picky_type =
    weir::component<picky, settings>(WEIR_KIND_PROCESSOR, "picky", rows);
constexpr weir_component_type stillborn_type =
    weir::component<stillborn>(WEIR_KIND_PROCESSOR, "stillborn");
constexpr weir_component_type restless_type =
    weir::component<restless>(WEIR_KIND_SERVICE, "restless");
constexpr weir_component_type bare_type = make_bare();
constexpr const weir_component_type *types[] = { &picky_type, &stillborn_type, &restless_type,
                                                 &bare_type };
WEIR_PLUGIN = weir::plugin("outside-cpp", "1.0.0", types);
"""

DRIVER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

static bool restless_failed(void *context, const weir_failure *failure)
{
    *(bool *)context = strcmp(failure->text, "no rest") == 0 || *(bool *)context;
    return true;
}

/* driver PLUGIN TYPE SIZES: a component of that type gets texts of these sizes. */
int main(int count, char **arguments)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(NULL, &error);
    weir_plugin_load(engine, arguments[1], &error);
    weir_processor to = { 0 };
    weir_component_add(engine, weir_component_type_find(engine, arguments[2]),
                       WEIR_COMPONENT(.name = "subject"), &to, &error);
    weir_components_start(engine, &error);
    for (int i = 3; i < count && error.status == 0; i++) {
        const weir_event event = { .type = &weir_text_type, .data = "12345678",
                                   .size = (uint32_t)atoi(arguments[i]) };
        error.status = weir_engine_post(engine, to, &event);
    }
    bool failed = false;
    while (strcmp(arguments[2], "restless") == 0 && !failed) {
        weir_failure_visit(engine, restless_failed, &failed);
    }
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    weir_components_stop(engine, 0, &report);
    printf("%u handled, %u dead\n", (unsigned)report.handled, (unsigned)report.dead);
    const int result = weir_error_print(&error);
    weir_engine_destroy(engine);
    return result;
}
"""


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=60,
                          check=False, **more)
    return done.returncode, done.stdout + done.stderr


def build(check, environment, folder, library):
    """The driver and both plugins, by pkg-config alone. None: said."""
    good, flags = tap.run("pkg-config", "--cflags", "--libs", "weir", env=environment)
    if not check("pkg-config answers", good, flags):
        return None
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    paths = {}
    for name, text, compiler, more in (
            ("driver.c", DRIVER, "cc", ["-std=gnu11", f"-Wl,-rpath,{library}"]),
            ("outside.c", PLUGIN_C, "cc", ["-std=gnu11", "-shared", "-fPIC"]),
            ("outside_cpp.cpp", PLUGIN_CPP, "c++", ["-std=c++17", "-shared", "-fPIC"])):
        source = folder / name
        source.write_text(text)
        paths[name] = source.with_suffix("" if name == "driver.c" else ".so")
        good, said = tap.run(compiler, *strict, source, *more, *shlex.split(flags), "-o",
                             paths[name], env=environment)
        if not check(f"{name} builds outside the tree", good, said):
            return None
        paths[name].chmod(0o700)
    return paths


def main(check, folder):
    folder.chmod(0o700)
    clean = {k: v for k, v in os.environ.items() if k not in TREE_VARIABLES}
    destination = folder / "destination"
    meson = [shutil.which("meson")] if shutil.which("meson") else [sys.executable, "-m", "mesonbuild"]
    good, said = tap.run(*meson, "install", "--no-rebuild", "-C", tap.BUILD, "--destdir",
                         destination, env=clean)
    if not check("meson installs into a DESTDIR", good, said):
        return
    library = next(destination.rglob("libweir.so")).parent
    environment = {**clean, "PKG_CONFIG_LIBDIR": str(next(destination.rglob("weir.pc")).parent),
                   "PKG_CONFIG_SYSROOT_DIR": str(destination)}
    paths = build(check, environment, folder, library)
    if paths is None:
        return
    driver, plain, cpp = paths["driver.c"], paths["outside.c"], paths["outside_cpp.cpp"]
    code, said = run(driver, plain, "echo", "1", "5", env=clean)
    check("a plugin in C works", code == 0 and "2 handled, 0 dead" in said, said)
    code, said = run(driver, cpp, "picky", "4", "1", "4", env=clean)
    check("a std::exception is a failure with its text, and the next event is handled",
          code == 0 and "2 handled, 1 dead" in said and "one is too few" in said, said)
    code, said = run(driver, cpp, "picky", "2", env=clean)
    check("a weir::failure too", code == 0 and "two are too few" in said, said)
    code, said = run(driver, cpp, "picky", "3", env=clean)
    check("and whatever else is thrown",
          code == 0 and "an exception that is no std::exception" in said, said)
    code, said = run(driver, cpp, "stillborn", env=clean)
    check("a constructor that throws is an init that fails",
          code == 1 and "component subject: init failed: not today" in said, said)
    code, said = run(driver, cpp, "restless", env=clean)
    check("a round that throws is reported, and ends nothing", code == 0, said)
    code, said = run(driver, cpp, "bare", "1", env=clean)
    check("a bare throw ends in the crash report that names the processor",
          code < 0 and "in the handler of" in said and '"subject"' in said, f"{code} {said}")
    plain.chmod(0o702)
    code, said = run(driver, plain, "echo", env=clean)
    check("a plugin that everybody may write is refused",
          code == 1 and "may be written by everybody" in said, said)


if platform.system() != "Linux" or not shutil.which("c++"):
    sys.exit(77)
with tap.plan() as plan, tempfile.TemporaryDirectory() as temporary:
    main(plan, pathlib.Path(temporary))
