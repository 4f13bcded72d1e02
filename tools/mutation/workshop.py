# SPDX-License-Identifier: Apache-2.0
"""A private copy of the tree in which mutants are built and the tests run against them.

The library is one shared object with every symbol visible, so that a changed .c file costs one
compilation and one link, whatever the number of test programs; ninja finds what a changed header
costs. A test program is built when it is about to run.
"""
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import threading
import time
from collections import namedtuple

COPIED = ("include", "src", "tests")
NOT_LIBRARY = ("src/cli/", "src/sync/sim/")  # every other .c file of src/ is: tools/tidy.py says so
FLAGS = ("-std=gnu11 -O1 -g0 -w -fPIC -pthread -DWEIR_DEBUG -fno-semantic-interposition "
         "-Iinclude -Isrc -Itests")
STARVED_MAX = 20  # times its limit that a test may take on a machine that is busy otherwise
MEMORY_MAX = 8 << 30  # of a test's address space: some mutants allocate without end

# A flavour is how everything is compiled: what is added to FLAGS (the last -O counts), what to the
# link, whether MEMORY_MAX holds (TSan maps terabytes).
Flavour = namedtuple("Flavour", "compile link bounded")
FLAVOURS = {
    "plain": Flavour("", "", True),
    "lines": Flavour("-O0 --coverage -fprofile-update=atomic", "--coverage", True),
    "tsan": Flavour("-fsanitize=thread -fno-omit-frame-pointer -Wno-tsan", "-fsanitize=thread",
                    False),
}

Outcome = namedtuple("Outcome", "verdict seconds text")  # verdict: passed, failed, crashed, hung

NINJA = """\
flags = {flags}
rule cc
  command = {compiler} $flags -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
rule so
  command = {compiler} -shared -pthread {link} @$out.rsp -o $out
  rspfile = $out.rsp
  rspfile_content = $in
rule exe
  command = {compiler} -pthread {link} $in -Wl,-rpath,{folder} -lcmocka -o $out
"""


def listed(meson_build, name):
    """The files of one list of a meson.build."""
    found = re.search(rf"^{name} = \[(.*?)\]", meson_build, re.DOTALL | re.MULTILINE)
    return re.findall(r"'([\w./-]+\.c)'", re.sub(r"#[^\n]*", "", found[1])) if found else []


def test_name(source):
    """As meson calls it: engine/stop for tests/engine/stop_test.c."""
    return re.sub(r"\.c$", "", source).replace("_test", "")


class Workshop:
    """One copy, one build; used by one thread."""

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
        sources = sorted(path.relative_to(self.folder).as_posix()
                         for path in (self.folder / "src").rglob("*.c"))
        sources = [name for name in sources if not name.startswith(NOT_LIBRARY)]
        text = [NINJA.format(flags=f"{FLAGS} {self.flavour.compile}", link=self.flavour.link,
                             folder=self.folder.resolve(),
                             compiler=os.environ.get("CC", "gcc"))]
        text.append(f"build libweir.so: so {' '.join(self._object(text, s) for s in sources)}\n")
        programs = {}
        for source in listed(tests, "test_programs"):
            name = pathlib.PurePath(source).stem
            text.append(f"build {name}: exe {self._object(text, 'tests/' + source)} libweir.so\n")
            programs[name] = name
        beside = " ".join(programs)
        found = {}
        for suite in self.suites:
            for source in listed(tests, suite + "_tests"):
                program = re.sub(r"\W", "_", source[:-2])
                built = self._object(text, "tests/" + source)
                text.append(f"build {program}: exe {built} libweir.so || {beside}\n")
                found[test_name(source)] = (suite, program)
        new = "".join(text)
        path = self.folder / "build.ninja"
        if not path.exists() or path.read_text() != new:
            path.write_text(new)
        return found

    @staticmethod
    def _object(text, source):
        target = "obj/" + source[:-2] + ".o"
        text.append(f"build {target}: cc {source}\n")
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

    def run(self, name, limit):
        """One test program, from its start to its first failure."""
        environment = {**os.environ, "WEIR_TEST_FAST": "1", "WEIR_SEED": "1",
                       "MALLOC_PERTURB_": "165", "TSAN_OPTIONS": "halt_on_error=1"}
        environment.pop("CMOCKA_MESSAGE_OUTPUT", None)  # its own form reports failures at once
        start = time.monotonic()
        process = subprocess.Popen([str(self.folder.resolve() / self.tests[name][1])],
                                   cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   start_new_session=True,
                                   preexec_fn=_limit if self.flavour.bounded else _no_core)
        late, over = threading.Event(), threading.Event()
        watch = threading.Thread(target=_watch, args=(process, limit, late, over))
        watch.start()
        said, failed = [], False
        for line in process.stderr:
            said.append(line.decode(errors="replace"))
            if b"[   LINE   ]" in line or b"[  FAILED  ]" in line:
                failed = True
                _end(process)
                break
        status = process.wait()
        over.set()
        watch.join()
        _end(process)
        process.stderr.close()
        verdict = ("failed" if failed else "hung" if late.is_set() else
                   "crashed" if status < 0 else "failed" if status else "passed")
        return Outcome(verdict, time.monotonic() - start, "".join(said[-12:]))

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def _starved(pid):
    """Seconds that a thread of it was ready to run and did not: a busy machine, not a hang."""
    longest = 0
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            longest = max(longest, int(path.read_text().split()[1]))
        except (OSError, IndexError, ValueError):
            pass  # the thread has ended meanwhile
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


def _no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit():
    _no_core()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))


def _end(process):
    """The program and whatever it forked: they are a group of their own."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
