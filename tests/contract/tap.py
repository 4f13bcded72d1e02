# SPDX-License-Identifier: Apache-2.0
"""What the contract scripts share: where things are, how to run a command, how to say it in TAP.

    with tap.plan() as check:
        check("headers are found", bool(headers), "looked in include/weir")
        check.skip("clang refuses it", "clang is not installed")
"""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(os.environ.get("WEIR_SOURCE_ROOT", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("WEIR_BUILD_ROOT", ROOT / "build"))
TIMEOUT_S = 100


class Check:
    """Counts and prints one line a check, and a plan at the end."""

    def __init__(self):
        self.count = self.failed = 0

    def __call__(self, sentence, good, why=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {sentence}")
        if not good:
            for line in str(why).splitlines():
                print(f"# {line}")
        sys.stdout.flush()
        return good

    def skip(self, sentence, why):
        self.count += 1
        print(f"ok {self.count} - {sentence} # SKIP {why}")


@contextlib.contextmanager
def plan():
    check = Check()
    yield check
    print(f"1..{check.count}")
    sys.exit(1 if check.failed else 0)


def run(*command, **options):
    """Runs a command; answers (succeeded, all that it said)."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S, check=False,
                          **options)
    return done.returncode == 0, done.stdout


def compilers(*names):
    """The compilers of these names that are here."""
    return [name for name in names if shutil.which(name)]
