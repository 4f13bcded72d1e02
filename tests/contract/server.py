# SPDX-License-Identifier: Apache-2.0
"""What the scripts about `weir run` share: running it with a file, waiting for what it does."""
import atexit
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import tap

WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))
PATIENCE_S = int(os.environ.get("WEIR_TEST_PATIENCE", "60"))

# Whatever the mask was when it was built: a plugin that others may write is refused.
os.umask(0o022)
PRIVATE = tempfile.mkdtemp(prefix="weir-recorder-")
atexit.register(shutil.rmtree, PRIVATE, ignore_errors=True)
RECORDER = shutil.copyfile(os.environ.get("WEIR_RECORDER", tap.BUILD / "tests/recorder.so"),
                           f"{PRIVATE}/recorder.so")


def until(what, patience=PATIENCE_S):
    """Asks until the answer is true, and answers it; the last answer when the time is over."""
    end = time.monotonic() + patience
    while not (answer := what()) and time.monotonic() < end:
        time.sleep(0.005)
    return answer


@contextlib.contextmanager
def folder():
    """A folder that only its owner may write, to be the working directory meanwhile."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="weir-run-") as path:
        os.chdir(path)
        try:
            yield pathlib.Path(path)
        finally:
            os.chdir(before)


def clean_environment(**more):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("WEIR_") and name not in ("NOTIFY_SOCKET", "WATCHDOG_USEC")}
    return {**kept, "XDG_RUNTIME_DIR": os.getcwd(), **more}


def weir(*arguments, timeout=PATIENCE_S, environment=None):
    """(exit status, standard output, standard error) of a command that ends by itself."""
    done = subprocess.run([WEIR, *map(str, arguments)], capture_output=True, text=True, check=False,
                          env=clean_environment(**(environment or {})), timeout=timeout)
    return done.returncode, done.stdout, done.stderr


class Server:
    """`weir run` in the background: its output goes to files, so that nothing blocks it."""

    def __init__(self, *arguments, environment=None, prepare=None):
        self.out, self.error = open("out.txt", "w+b"), open("error.txt", "w+b")
        # pylint: disable=consider-using-with,subprocess-popen-preexec-fn
        self.process = subprocess.Popen([WEIR, "run", *map(str, arguments)], stdout=self.out,
                                        stderr=self.error, preexec_fn=prepare,
                                        env=clean_environment(**(environment or {})))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.out.close()
        self.error.close()

    def send(self, number):
        self.process.send_signal(number)

    def stop(self, number=signal.SIGTERM):
        """Sends a signal, waits for the end; answers the exit status."""
        self.send(number)
        return self.wait()

    def wait(self):
        return self.process.wait(timeout=PATIENCE_S)

    def said(self):
        return pathlib.Path("error.txt").read_text(encoding="utf-8", errors="replace")

    def printed(self):
        return pathlib.Path("out.txt").read_text(encoding="utf-8", errors="replace")

    def sums(self):
        return json.loads(self.printed().splitlines()[-1])


def lines(path):
    """What a recorder has written, without what is not a whole line yet."""
    with contextlib.suppress(FileNotFoundError):
        return pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    return []
