/*
 * cli/new_templates.c - see new_templates.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/new_templates.h"

#include <stddef.h>

/* About 30 lines, without what is there to be read. */
static const char source[] =
    "/* @NAME@ - a type of component for weir: passes on every so-manieth event.\n"
    " * Its keys are in `options`, what it does with an event in `on_event`. */\n"
    "#include <weir/weir.h>\n"
    "\n"
    "typedef struct @ID@_config { /* filled from the file, checked before init */\n"
    "    weir_target to;\n"
    "    int64_t every;\n"
    "} @ID@_config;\n"
    "\n"
    "typedef struct @ID@_state { /* zeroed memory; a handler never runs on two threads at once */\n"
    "    const @ID@_config *config;\n"
    "    int64_t seen;\n"
    "} @ID@_state;\n"
    "\n"
    "static weir_status on_init(void *state, weir_component *self, const void *config,\n"
    "                           weir_error *error)\n"
    "{\n"
    "    (void)self;\n"
    "    (void)error;\n"
    "    ((@ID@_state *)state)->config = config;\n"
    "    return WEIR_OK;\n"
    "}\n"
    "\n"
    "static weir_status on_event(void *state, weir_turn *turn, const weir_event *event)\n"
    "{\n"
    "    @ID@_state *s = state;\n"
    "    if (++s->seen % s->config->every != 0) {\n"
    "        return WEIR_OK;\n"
    "    }\n"
    "    return weir_turn_send(turn, &s->config->to, event);\n"
    "}\n"
    "\n"
    "static const weir_option options[] = {\n"
    "    WEIR_KEY(TARGET, @ID@_config, to, \"to\", .help = \"Who gets what is passed on.\"),\n"
    "    WEIR_KEY(INT, @ID@_config, every, \"every\", .fallback = \"1\", .min = 1, .max = 1e9,\n"
    "             .help = \"One event in so many is passed on.\"),\n"
    "};\n"
    "\n"
    "static const weir_component_type @ID@_type = {\n"
    "    .struct_size = sizeof(weir_component_type), .kind = WEIR_KIND_PROCESSOR,\n"
    "    .name = \"@NAME@\", .help = \"passes on one event in so many\",\n"
    "    .state_size = sizeof(@ID@_state), .config_size = sizeof(@ID@_config),\n"
    "    .options = options, .option_count = sizeof(options) / sizeof(options[0]),\n"
    "    .init = on_init, .handler = on_event,\n"
    "};\n"
    "\n"
    "static const weir_component_type *const types[] = { &@ID@_type };\n"
    "\n"
    "WEIR_PLUGIN = {\n"
    "    WEIR_PLUGIN_HEAD, .name = \"@NAME@\", .version = \"0.1.0\",\n"
    "    .help = \"a plugin to begin with\", .types = types, .type_count = 1,\n"
    "};\n";

static const char makefile[] =
    "# make: builds @NAME@.so. make test: runs it. WEIR is the command, if it is not in the path.\n"
    "WEIR ?= weir\n"
    "CFLAGS ?= -O2 -g -Wall -Wextra\n"
    "CPPFLAGS += $(shell pkg-config --cflags weir 2>/dev/null)\n"
    "\n"
    "@NAME@.so: @NAME@.c\n"
    "\t$(CC) $(CPPFLAGS) $(CFLAGS) -std=gnu11 -fPIC -shared -o $@ $<\n"
    "\tchmod go-w $@ # weir refuses a plugin that others may write\n"
    "\n"
    "test: @NAME@.so\n"
    "\tWEIR=\"$(WEIR)\" ./test.sh\n"
    "\n"
    "clean:\n"
    "\trm -f @NAME@.so\n"
    "\n"
    ".PHONY: test clean\n";

static const char meson[] =
    "project('@NAME@', 'c', default_options: ['c_std=gnu11', 'warning_level=2'])\n"
    "\n"
    "# Headers only: what a plugin calls it finds in the weir command that loads it.\n"
    "weir = dependency('weir').partial_dependency(compile_args: true, includes: true)\n"
    "\n"
    "plugin = shared_module('@NAME@', '@NAME@.c', name_prefix: '', dependencies: weir,\n"
    "  install: true, install_dir: get_option('libdir') / 'weir' / 'plugins')\n"
    "\n"
    "test('passes events on', find_program('test.sh'),\n"
    "  env: ['PLUGIN_PATH=' + meson.current_build_dir()], depends: plugin)\n";

static const char test_conf[] =
    "# What test.sh runs: 1,000 events through @NAME@, every tenth of which arrives.\n"
    "weir.plugins = [@NAME@]\n"
    "weir.components {\n"
    "  numbers { type = generator, count = 1000, rate = 0, feed.slow-consumer = block }\n"
    "  @NAME@ { type = @NAME@, feeds = [numbers], every = 10, to = out }\n"
    "  out { type = discard }\n"
    "}\n";

static const char test_script[] =
    "#!/bin/sh\n"
    "# Runs the plugin on a thousand events and counts what arrives. WEIR: the command.\n"
    "# PLUGIN_PATH: where @NAME@.so is, if not here.\n"
    "set -eu\n"
    "cd \"$(dirname \"$0\")\"\n"
    "sums=$(\"${WEIR:-weir}\" run test.conf -D \"weir.plugin-path=[\\\"${PLUGIN_PATH:-.}\\\"]\" "
    "\\\n"
    "    --seconds 1 --json)\n"
    "echo \"$sums\" | grep -q '\"name\":\"@NAME@\"[^}]*\"handled\":1000,' &&\n"
    "    echo \"$sums\" | grep -q '\"name\":\"out\"[^}]*\"handled\":100,' || {\n"
    "    echo \"not 1000 in and 100 out: $sums\" >&2\n"
    "    exit 1\n"
    "}\n"
    "echo \"ok: 1000 in, 100 out\"\n";

static const char plugin_readme[] =
    "# @NAME@\n"
    "\n"
    "A plugin for weir: one type of component, `@NAME@`, that passes on one event in so many.\n"
    "\n"
    "    make            # builds @NAME@.so\n"
    "    make test       # runs test.conf and looks at the sums\n"
    "    weir types @NAME@ --plugin ./@NAME@.so\n"
    "\n"
    "or `meson setup build && meson test -C build`. In a file:\n"
    "\n"
    "    weir.plugins = [\"/path/to/@NAME@.so\"]\n"
    "    weir.components {\n"
    "      some { type = @NAME@, feeds = [ticks], every = 10, to = out }\n"
    "    }\n"
    "\n"
    "`@NAME@.c` is the whole of it: the keys in `options`, the work in `on_event`. The headers\n"
    "`weir/component.h` and `weir/plugin.h` say what else a component can do.\n";

const weir__template weir__plugin_templates[] = {
    { "@NAME@.c", false, source },
    { "Makefile", false, makefile },
    { "meson.build", false, meson },
    { "test.conf", false, test_conf },
    { "test.sh", true, test_script },
    { "README.md", false, plugin_readme },
    { NULL, false, NULL },
};

/* ---- an application: a file to run, and a plugin of its own ---- */

static const char app_conf[] =
    "# @NAME@: orders from a generator, each key always to the same of two @NAME@ processors, "
    "what\n"
    "# they pass on into a file. `weir config check weir.conf` says what is wrong with it,\n"
    "# `weir types` what else there is.\n"
    "weir.engine {\n"
    "  name = @NAME@\n"
    "  threads = [\n"
    "    { name = io, dispatchers = [io] }\n"
    "    { name = work, dispatchers = [\"\"] }\n"
    "  ]\n"
    "}\n"
    "\n"
    "weir.plugins = [\"plugin/@NAME@\"]\n"
    "\n"
    "weir.components {\n"
    "  orders {\n"
    "    type = generator\n"
    "    thread = io\n"
    "    rate = 1000\n"
    "    keys = 100\n"
    "    template = \"{\\\"client\\\": \\\"${key}\\\", \\\"cents\\\": ${random:100000}}\"\n"
    "  }\n"
    "  by-client { type = key-by, feeds = [orders], field = client, to = clients }\n"
    "  work { type = @NAME@, instances = 2, every = 10, to = out }\n"
    "  out { type = file-sink, dispatcher = io, thread = io, path = \"out.jsonl\" }\n"
    "}\n"
    "\n"
    "# Each client's orders in order, on one of the instances of work.\n"
    "weir.flows.clients.targets = [work]\n";

static const char app_script[] =
    "#!/bin/sh\n"
    "# Builds the plugin, then runs weir.conf until Ctrl-C. What is given goes to `weir run`:\n"
    "# ./run.sh --seconds 5 --json\n"
    "set -eu\n"
    "cd \"$(dirname \"$0\")\"\n"
    "make -s -C plugin\n"
    "exec \"${WEIR:-weir}\" run weir.conf \"$@\"\n";

static const char app_readme[] =
    "# @NAME@\n"
    "\n"
    "A server of weir's: `weir.conf` says what runs, `plugin/` has a type of component of its "
    "own.\n"
    "\n"
    "    ./run.sh                 # builds the plugin, runs until Ctrl-C\n"
    "    ./run.sh --seconds 5     # or for so long\n"
    "\n"
    "It makes orders of 100 clients, sends each client's to one of two processors, and writes\n"
    "what they pass on to `out.jsonl`.\n";

const weir__template weir__app_templates[] = {
    { "weir.conf", false, app_conf },
    { "run.sh", true, app_script },
    { "README.md", false, app_readme },
    { ".gitignore", false, "*.so\nout.jsonl*\n" },
    { "plugin/@NAME@.c", false, source },
    { "plugin/Makefile", false, makefile },
    { "plugin/test.conf", false, test_conf },
    { "plugin/test.sh", true, test_script },
    { NULL, false, NULL },
};
