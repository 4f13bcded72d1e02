# SPDX-License-Identifier: Apache-2.0
"""Builds the peers' programs and weir-bench, and installs packages that are missing."""
import json
import os
import pathlib
import shlex
import shutil
import subprocess

from . import catalogue

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "bench/peers"
LIMIT_S = 600


class Missing(Exception):
    """What is not there, and what to do about it."""


def packages_of(peers):
    return sorted({package for peer in peers for package in catalogue.PEERS[peer].packages})


def missing_packages(packages):
    if not shutil.which("dpkg-query"):
        return []  # no Debian: the compiler will say what is missing
    done = subprocess.run(["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n", *packages],
                          capture_output=True, text=True, check=False)
    there = {line.split()[0] for line in done.stdout.splitlines() if line.endswith(" installed")}
    return [package for package in packages if package not in there]


def install(packages):
    script = f"source {shlex.quote(str(ROOT / 'tools/packages.sh'))}; install_missing \"$@\""
    if subprocess.run(["bash", "-c", script, "bash", *packages], check=False).returncode != 0:
        raise Missing("packages could not be installed")


def call(command, **options):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False,
                              **options)
    except OSError as error:
        raise Missing(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise Missing(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def is_newer(products, sources):
    """Whether something was built, and after every source was written."""
    times = [path.stat().st_mtime for path in products if path.is_file()]
    return bool(times) and max(times) > max(path.stat().st_mtime for path in sources)


def build_peers(peers, folder, say):
    """The programs of these peers, and the one that measures the hand-over, unless up to date."""
    missing = missing_packages(packages_of(peers))
    if missing:
        raise Missing(f"missing packages: {' '.join(missing)}\n"
                      "`tools/bench-peers --install` gets them; --peers leaves peers out")
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "GO111MODULE": "off", "GOCACHE": str(folder / "go-cache")}
    steps = {catalogue.HANDOVER: ("handover", "")}
    for peer in peers:  # several may share a program
        steps.setdefault(catalogue.PEERS[peer].build, (peer, catalogue.PEERS[peer].pkg_config))
    for words, (name, pkg_config) in steps.items():
        command = [word.format(bin=folder, src=SOURCES) for word in words]
        stamp = folder / f"{name}.built"
        sources = [path for path in SOURCES.iterdir() if path.is_file()]
        if is_newer([stamp], sources) and stamp.read_text() == " ".join(command):
            continue
        say(f"building {name}")
        if pkg_config:
            command += call(["pkg-config", "--cflags", "--libs", pkg_config]).split()
        call(command, env=environment)
        stamp.write_text(" ".join(word.format(bin=folder, src=SOURCES) for word in words))


def build_weir(folder, say):
    """weir-bench, as it is released."""
    say("building weir-bench")
    if not (folder / "build.ninja").exists():
        call(["meson", "setup", folder, ROOT, "-Dtests=disabled", "-Dexamples=false"])
    call(["ninja", "-C", folder, "weir-bench"])
    return folder / "weir-bench"


def rows_of_weir(program):
    """{(workload, variant, threads)} that weir-bench has."""
    return {(row["workload"], row["variant"], threads)
            for row in json.loads(call([str(program), "list", "--json"]))
            for threads in row["threads"]}
