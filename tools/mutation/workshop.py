# SPDX-License-Identifier: Apache-2.0
"""A private copy of the tree in which mutants are built and the tests run against them.

The library is one shared object with every symbol visible, so that a changed .c file costs one
compilation and one link, whatever the number of test programs; ninja finds what a changed header
costs. A test program is built when it is about to run; it is not linked again when the library has
changed, since it finds the new one by itself.
"""
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import namedtuple

COPIED = ("include", "src", "tests")
FLAGS = ("-std=gnu11 -O1 -g0 -w -fPIC -pthread -DWEIR_DEBUG -fno-semantic-interposition "
         "-DWEIR__HIDDEN= "  # tests of a room use what only its own files may, from a library
         "-Iinclude -Isrc -Itests")
NOT_BUILT = ("bench/", "host/plugin")  # they need more than the library: benchmarks, plugins
STARVED_MAX = 20  # times its limit that a test may take on a machine that is busy otherwise
MEMORY_MAX = 8 << 30  # of a test's address space: some mutants allocate without end

# A flavour is how everything is compiled: what is added to FLAGS (the last -O counts), what to the
# link.
Flavour = namedtuple("Flavour", "compile link")
FLAVOURS = {
    "plain": Flavour("", ""),
    "lines": Flavour("-O0 --coverage -fprofile-update=atomic", "--coverage"),
}

Outcome = namedtuple("Outcome", "verdict seconds text")  # verdict: passed, failed, crashed, hung

COMPILE = """\
flags = {flags}
rule cc
  command = {compiler} $flags -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
"""
NINJA = COMPILE + """\
rule so
  command = {compiler} -shared -pthread {link} @$out.rsp -o $out
  rspfile = $out.rsp
  rspfile_content = $in
rule exe
  command = {compiler} -pthread -rdynamic {link} $in libweir.so -Wl,-rpath,{folder} -lcmocka -o $out
"""


def compiler():
    """With ccache if it is there: the workers' first builds are the same."""
    return ("ccache " if shutil.which("ccache") else "") + os.environ.get("CC", "gcc")


def listed(meson_build, name):
    """The files of one list of a meson.build: of its own, not of a list that it adds."""
    found = re.search(rf"^{name} = (?:\w+ \+ )?(?:\[|files\()(.*?)^[\])]", meson_build,
                      re.DOTALL | re.MULTILINE)
    return re.findall(r"'([\w./-]+\.c)'", re.sub(r"#[^\n]*", "", found[1])) if found else []


def test_name(source):
    """As meson calls it: engine/stop for tests/engine/stop_test.c."""
    return re.sub(r"\.c$", "", source).replace("_test", "")


class Workshop:
    """One copy, one build; used by one thread."""

    library = "libweir.so"  # what a mutant is built into; the test programs use it

    def __init__(self, root, folder, suites, flavour="plain"):
        self.root, self.folder, self.flavour = root, pathlib.Path(folder), FLAVOURS[flavour]
        self.suites = suites
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in COPIED:
            self._copy(name)
        self.tests = self._write_ninja()
        self.changed = {}  # path: the true text

    def _copy(self, name):
        """Like rsync: times of unchanged files stay, so that ninja finds its objects good."""
        target = self.folder / name
        kept = set()
        for path in (self.root / name).rglob("*"):
            if path.is_file() and path.suffix in (".c", ".h", ".build"):
                copy = target / path.relative_to(self.root / name)
                copy.parent.mkdir(parents=True, exist_ok=True)
                if not copy.exists() or copy.read_bytes() != path.read_bytes():
                    copy.write_bytes(path.read_bytes())
                kept.add(copy)
        for path in list(target.rglob("*")):
            if path.is_file() and path not in kept:
                path.unlink()

    def _write_ninja(self):
        tests = (self.folder / "tests/meson.build").read_text()
        lists = (self.folder / "src/meson.build").read_text()
        sources = ["src/" + source for name in ("room_sources", "libweir_sources")
                   for source in listed(lists, name)]
        text = [NINJA.format(flags=f"{FLAGS} {self.flavour.compile}", link=self.flavour.link,
                             folder=self.folder.resolve(), compiler=compiler())]
        text.append(f"build libweir.so: so {' '.join(self._object(text, s) for s in sources)}\n")
        programs = {}
        for source in listed(tests, "test_programs"):
            name = pathlib.PurePath(source).stem
            text.append(f"build {name}: exe {self._object(text, 'tests/' + source)} || libweir.so\n")
            programs[name] = name
        beside = " ".join(programs)
        found = {}
        for suite in self.suites:
            for source in listed(tests, suite + "_tests"):
                if source.startswith(NOT_BUILT):
                    continue
                program = re.sub(r"\W", "_", source[:-2])
                built = self._object(text, "tests/" + source)
                text.append(f"build {program}: exe {built} || libweir.so {beside}\n")
                found[test_name(source)] = (suite, program)
        self._keep_ninja("".join(text))
        return found

    def _keep_ninja(self, new):
        path = self.folder / "build.ninja"
        if not path.exists() or path.read_text() != new:
            path.write_text(new)

    @staticmethod
    def _object(text, source, flags=None):
        target = "obj/" + source[:-2] + ".o"
        text.append(f"build {target}: cc {source}\n" + (f"  flags = {flags}\n" if flags else ""))
        return target

    def build(self, targets, jobs=1):
        """Answers (built, what was said)."""
        done = subprocess.run(["ninja", "-C", str(self.folder), "--quiet", "-j", str(jobs),
                               *targets], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", check=False)
        return done.returncode == 0, done.stdout

    def apply(self, mutant):
        """Every other change is undone first."""
        self.restore(keep=mutant.path)
        path = self.folder / mutant.path
        true = self.changed.setdefault(mutant.path, path.read_text())
        path.write_text(true[:mutant.start] + mutant.new + true[mutant.end:])

    def restore(self, keep=None):
        for path in [p for p in self.changed if p != keep]:
            (self.folder / path).write_text(self.changed.pop(path))

    def makes_no_difference(self, mutant):
        """Whether an optimising compiler makes the same code of the mutant as of the original, to
        the byte, in every file that has it: then no test can tell. The mutant is applied."""
        path, true = self.folder / mutant.path, self.changed[mutant.path]
        mutated = path.read_text()
        made = []
        for text in (mutated, true):
            path.write_text(text)
            made.append([self._optimised(source) for source in self._users(mutant.path)])
        path.write_text(mutated)
        return made[0] == made[1] and None not in made[0] and made[0] != []

    def _users(self, path):
        """The sources of the library that a change of this file changes."""
        if path.endswith(".c"):
            return [path]
        said = subprocess.run(["ninja", "-C", str(self.folder), "-t", "deps"], text=True,
                              stdout=subprocess.PIPE, check=False).stdout
        blocks = [block.split() for block in said.split("\n\n")]
        return [block[0][len("obj/"):-len(".o:")] + ".c" for block in blocks
                if block and block[0].startswith("obj/src/") and path in block]

    def _optimised(self, source):
        with tempfile.NamedTemporaryFile(suffix=".o") as file:
            done = subprocess.run([*compiler().split(), *FLAGS.split(), "-O2", "-c", source, "-o",
                                   file.name], cwd=self.folder, stderr=subprocess.DEVNULL,
                                  check=False)
            return pathlib.Path(file.name).read_bytes() if done.returncode == 0 else None

    def run(self, name, limit):
        """One test program, from its start to its first failure."""
        # What tests read, as the cases of HOCON, is not copied: no mutant changes it.
        environment = {**os.environ, "WEIR_TEST_FAST": "1", "WEIR_SEED": "1",
                       "WEIR_SOURCE_ROOT": str(self.root.resolve()), "MALLOC_PERTURB_": "165"}
        environment.pop("CMOCKA_MESSAGE_OUTPUT", None)  # its own form reports failures at once
        start = time.monotonic()
        process = subprocess.Popen(self.command(name), cwd=self.folder, env=environment,
                                   stdin=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=_limit, **self.streams)
        late, over = threading.Event(), threading.Event()
        watch = threading.Thread(target=_watch, args=(process, limit, late, over))
        watch.start()
        said, failed = [], False
        told = process.stderr or process.stdout
        for line in told:
            said.append(line.decode(errors="replace"))
            if line.startswith(self.failure_marks):
                failed = True
                _end(process)
                break
        status = process.wait()
        over.set()
        watch.join()
        _end(process)
        told.close()
        verdict = ("failed" if failed else "hung" if late.is_set() else
                   "crashed" if status < 0 else "failed" if status else "passed")
        return Outcome(verdict, time.monotonic() - start, "".join(said[-12:]))

    # Where a program says that a test has failed, and how that line begins.
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    failure_marks = (b"[   LINE   ]", b"[  FAILED  ]")

    def command(self, name):
        return [str(self.folder.resolve() / self.tests[name][1])]

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def _starved(pid):
    """Seconds that a thread of it was ready to run and did not: a busy machine, not a hang."""
    longest = 0
    try:
        for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
            longest = max(longest, int(path.read_text().split()[1]))
    except (OSError, IndexError, ValueError):
        pass  # a thread, or all of it, has ended meanwhile
    return longest / 1e9


def _watch(process, limit, late, over):
    """Ends it after `limit` seconds, not counting those in which it was starved."""
    start, starved = time.monotonic(), 0.0
    while not over.wait(0.2):
        starved = max(starved, _starved(process.pid))
        waited = time.monotonic() - start
        if waited - starved > limit or waited > STARVED_MAX * limit:
            late.set()
            _end(process)
            return


def _limit():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))


def _end(process):
    """The program and whatever it forked: they are a group of their own."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
