# SPDX-License-Identifier: Apache-2.0
"""`weir run` of files with mistakes: every one is told with its place, it ends with 2, and nothing
was started."""
import pathlib

import server
import tap

PLUGIN = f'weir.plugins = ["{server.RECORDER}"]\n'
GOOD = PLUGIN + """
weir.engine.threads = [{ name = io, dispatchers = [""] }, { name = work, dispatchers = [work] }]
weir.components {
  ticks { type = recorder-source, log = log, thread = io }
  book { type = recorder-processor, log = log, feeds = [ticks], dispatcher = work, to = out }
  out { type = recorder-sink, log = log }
}
"""
# A file's lines below weir.components, and what is said of it: place, key, text.
WRONG = {
    "an unknown type, with the nearest":
        ("a { type = recorder-sorce, log = log }",
         "f.conf:2:14: weir.components.a.type: 'recorder-sorce' is no type; did you mean "
         "recorder-source?"),
    "an unknown type that is near none, with all there are":
        ("a { type = zzzzzzzz }", "weir.components.a.type: 'zzzzzzzz' is no type; there are: "),
    "a missing type": ("a { log = log }", "f.conf:2:5: weir.components.a.type: is missing"),
    "a key that its type does not have":
        ("a { type = recorder-sink, log = log, lgo = 1 }",
         "f.conf:2:46: weir.components.a.lgo: is no key; did you mean weir.components.a.log?"),
    "a key of a group that its type does not have":
        ("a { type = recorder-sink, log = log, nested { dpth = 1 } }",
         "weir.components.a.nested.dpth: is no key; did you mean weir.components.a.nested.depth?"),
    "a required key that is missing":
        ("a { type = recorder-sink }", "weir.components.a.log: is missing"),
    "a value out of the bounds of its type":
        ("a { type = recorder-source, log = log, count = -1 }",
         "f.conf:2:50: weir.components.a.count: -1 is not >= 0"),
    "a value out of the bounds in a group":
        ("a { type = recorder-sink, log = log, nested.depth = 10 }",
         "weir.components.a.nested.depth: 10 is not <= 9"),
    "a common key with a wrong value":
        ("a { type = recorder-processor, log = log, instances = 0 }",
         "weir.components.a.instances: 0 is not >= 1"),
    "a common key with a wrong value beside an unknown type":
        ("a { type = zzzzzzzz, instances = 0 }", "weir.components.a.instances: 0 is not >= 1"),
    "a target that is not there, with the nearest":
        ("a { type = recorder-sink, log = log, to = oout }\n  out { type = recorder-sink, log = log }",
         "f.conf:2:45: weir.components.a.to: 'oout' is no component or router that takes events; did "
         "you mean out?"),
    "a target in a list that is not there":
        ("a { type = recorder-sink, log = log, also = [out, nix] }\n"
         "  out { type = recorder-sink, log = log }",
         "f.conf:2:53: weir.components.a.also[1]: 'nix' is no component or router"),
    "a target that takes nothing":
        ("a { type = recorder-sink, log = log, to = s }\n  s { type = recorder-source, log = log }",
         "weir.components.a.to: 's' is a recorder-source, no component or router that takes events"),
    "a feed that is not there, with the nearest":
        ("a { type = recorder-sink, log = log, feeds = [tick] }\n"
         "  ticks { type = recorder-source, log = log }",
         "f.conf:2:49: weir.components.a.feeds[0]: 'tick' is no source; did you mean ticks?"),
    "a feed of what is no source":
        ("a { type = recorder-sink, log = log, feeds = [b] }\n  b { type = recorder-sink, log = log }",
         "weir.components.a.feeds[0]: 'b' is a recorder-sink, no source"),
    "somebody to come after who is not there":
        ("a { type = recorder-sink, log = log, after = [b] }",
         "weir.components.a.after[0]: 'b' is no component"),
    "a thread that is not there, with the nearest":
        ("a { type = recorder-sink, log = log, thread = weir1 }",
         "f.conf:2:49: weir.components.a.thread: 'weir1' is no thread; did you mean weir-1?"),
    "a dispatcher that no thread serves":
        ("a { type = recorder-sink, log = log, dispatcher = other }",
         "weir.components.a.dispatcher: 'other' is no dispatcher that a thread serves"),
    "a circle of two, with all in it":
        ("a { type = recorder-processor, log = log, to = b }\n"
         "  b { type = recorder-processor, log = log, to = a }",
         "f.conf:3:50: weir.components.b.to: closes a circle, so that none of them could start "
         "first: a -> b -> a"),
    "a circle of one":
        ("a { type = recorder-processor, log = log, to = a }",
         "weir.components.a.to: closes a circle, so that none of them could start first: a -> a"),
    "a circle through a router":
        ("a { type = recorder-processor, log = log, to = r }\n}\nweir.flows.r.targets = [a]\n"
         "weir.components {", "closes a circle, so that none of them could start first: "),
    "a component and a router of one name":
        ("a { type = recorder-sink, log = log }\n}\nweir.flows.a.targets = [a]\nweir.components {",
         "weir.flows.a: is the name of a component, too"),
    "a router with a target that is not there":
        ("a { type = recorder-sink, log = log }\n}\nweir.flows.r.targets = [b]\nweir.components {",
         "weir.flows.r.targets[0]: 'b' is no component or router that takes events"),
    "a router with the same target twice":
        ("a { type = recorder-sink, log = log }\n}\nweir.flows.r.targets = [a, a]\n"
         "weir.components {", "weir.flows.r.targets[1]: has 'a' twice"),
    "a router with targets and workers":
        ("a { type = recorder-sink, log = log }\n}\nweir.flows.r { targets = [a], workers = 2 }\n"
         "weir.components {", "weir.flows.r.workers: stands beside targets"),
    "a router without targets that somebody sends to":
        ("a { type = recorder-sink, log = log, to = r }\n}\nweir.flows.r.workers = 2\n"
         "weir.components {", "weir.components.a.to: 'r' is a router without targets"),
    "a name that is none":
        ('"a b" { type = recorder-sink, log = log }',
         'weir.components."a b": is no name for a component'),
    "a name that is too long":
        ("a" * 64 + " { type = recorder-sink, log = log }", "is no name for a component"),
    "instances of what is no processor":
        ("a { type = recorder-sink, log = log, instances = 2 }",
         "weir.components.a.instances: is of processors"),
    "a feed of what does not publish":
        ("a { type = recorder-sink, log = log, feed.queue-max = 8 }",
         "weir.components.a.feed: is of sources"),
    "a queue that is no power of two":
        ("a { type = recorder-source, log = log, feed.queue-max = 1000 }",
         "weir.components.a.feed.queue-max: 1000 is no power of two"),
    "a mailbox of what receives nothing":
        ("a { type = recorder-source, log = log, mailbox-max = 8 }",
         "weir.components.a.mailbox-max: is of what receives events"),
    "a component that is no object": ("a = 3", "weir.components.a: is a number, must be an object"),
    "weir.components that are none":
        ("}\nweir.components = [1, 2]\nx {", "weir.components: is a list, must be an object"),
    "a plugin that is not there":
        ("a { type = recorder-sink, log = log }\n}\nweir.plugins += nix\nweir.components {",
         "weir.plugins[1]: 'nix' is not there"),
    "a plugin that is no shared object":
        ("a { type = recorder-sink, log = log }\n}\nweir.plugins += \"f.conf\"\nweir.components {",
         "weir.plugins[1]: cannot be loaded: "),
    "a wrong key of weir.server":
        ("a { type = recorder-sink, log = log }\n}\nweir.server.stop-timout = 1s\n"
         "weir.components {", "weir.server.stop-timout: is no key; did you mean weir.server.stop-"),
    "a wrong key of weir.engine":
        ("a { type = recorder-sink, log = log }\n}\nweir.engine.batch-max = 0\nweir.components {",
         "weir.engine.batch-max: 0 is not >= 1"),
}


def check_wrong(check):
    for sentence, (text, told) in WRONG.items():
        with server.folder() as folder:
            pathlib.Path("f.conf").write_text(f"{PLUGIN.strip()}, weir.components {{\n  {text}\n}}\n",
                                              encoding="utf-8")
            status, out, error = server.weir("run", "f.conf")
            left = sorted(path.name for path in folder.iterdir())
            check(f"{sentence}: is told with its place", told in error and out == "", error)
            check(f"{sentence}: it ends with 2, and nothing was started",
                  status == 2 and left == ["f.conf"], (status, left, error))
            status, _, error = server.weir("config", "check", "f.conf")
            check(f"{sentence}: weir config check says the same", status == 2 and told in error,
                  (status, error))


def check_all_at_once(check):
    texts = ["a { type = recorder-sorce }", "b { type = recorder-sink }",
             "c { type = recorder-sink, log = log, to = nix, thread = nix }",
             "d { type = recorder-sink, log = log, mailbox-max = 0 }"]
    with server.folder():
        pathlib.Path("f.conf").write_text("weir.components {\n" + "\n".join(texts) + "\n}\n" + PLUGIN,
                                          encoding="utf-8")
        status, _, error = server.weir("run", "f.conf")
        wanted = ["f.conf:2:12: ", "f.conf:3:", "f.conf:4:43: ", "f.conf:4:57: ", "f.conf:5:"]
        found = [line for line in error.splitlines() if line.startswith("f.conf:")]
        check("all mistakes of a file are told at once, in order",
              status == 2 and [any(line.startswith(place) for line in found) for place in wanted]
              == [True] * 5 and found == sorted(found), error)


def check_good(check):
    with server.folder():
        pathlib.Path("f.conf").write_text(GOOD, encoding="utf-8")
        status, out, error = server.weir("run", "--check", "f.conf")
        check("a good file passes --check, and nothing is started",
              status == 0 and out == "" and "ok: 3 components" in error and
              not pathlib.Path("log").exists(), (status, error))
        status, out, error = server.weir("config", "show", "f.conf")
        check("weir config show knows the keys of components, and where each came from",
              status == 0 and "weir.components.book.feeds = [\"ticks\"]" in out and
              "weir.components.ticks.count = 0" in out, out + error)
        pathlib.Path("g.conf").write_text(GOOD.replace("log = log }", "log = other }"),
                                          encoding="utf-8")
        status, out, _ = server.weir("config", "diff", "f.conf", "g.conf")
        check("weir config diff, too", status == 1 and "+ weir.components.out.log = \"other\"" in out,
              out)
        status, _, error = server.weir("run", "f.conf", "--check", "-D",
                                       "weir.components.out.type=recorder-sorce")
        check("a mistake of -D is one of -D", status == 2 and "-D: weir.components.out.type" in error,
              error)
        status, _, error = server.weir("run", "--check", "f.conf", environment={
            "WEIR__COMPONENTS__OUT__FAIL": "somtimes"})
        check("and one of the environment", status == 2 and
              "environment WEIR__COMPONENTS__OUT__FAIL: weir.components.out.fail: 'somtimes' is none"
              in error, error)
        pathlib.Path("h.conf").write_text("weir.components.out = null\n", encoding="utf-8")
        status, _, error = server.weir("run", "--check", "f.conf", "h.conf")
        check("a component that a later file takes away is missed by who sends to it",
              status == 2 and "weir.components.book.to: 'out' is no component" in error, error)


def check_usage(check):
    with server.folder():
        pathlib.Path("empty.conf").write_text("", encoding="utf-8")
        status, _, error = server.weir("run", "empty.conf")
        check("a file without components has nothing to run", status == 2 and
              "nothing to run" in error, error)
        status, _, error = server.weir("run", "absent.conf")
        check("a file that is not there is named", status == 2 and "absent.conf" in error, error)
        pathlib.Path("broken.conf").write_text("weir.components {\n", encoding="utf-8")
        status, _, error = server.weir("run", "broken.conf")
        check("an error of syntax has its place", status == 2 and "broken.conf:" in error, error)
        for bad in (["--seconds", "0"], ["--seconds", "x"], ["--nix"], ["--seconds"]):
            status, _, error = server.weir("run", "empty.conf", *bad)
            check(f"{' '.join(bad)} is wrong usage", status == 2 and "try: weir run --help" in error,
                  error)
        status, out, _ = server.weir("run", "--help")
        check("--help tells how", status == 0 and out.startswith("usage: weir run"), out)


with tap.plan() as CHECK:
    check_wrong(CHECK)
    check_all_at_once(CHECK)
    check_good(CHECK)
    check_usage(CHECK)
