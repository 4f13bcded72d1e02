#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Prometheus and Grafana make of weir's figures: promtool reads /metrics and the alert rules, a
real Prometheus scrapes a server whose rates are known, and every expression of the dashboard and of
the rules is of figures that there are."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import tap

WEIR = os.environ.get("WEIR_COMMAND", str(tap.BUILD / "weir"))
RULES = tap.ROOT / "dist/prometheus/weir.rules.yml"
RULES_TEST = tap.ROOT / "dist/prometheus/weir.rules.test.yml"
DASHBOARD = tap.ROOT / "dist/grafana/weir.json"
RATE = 500
SECONDS = 10  # that the rates are of
CONFIG = """
weir {
  engine { name = scraped, thread-dispatcher-assignment = [ [""], [api], [api] ] }
  flows.by-key { keys = bytes, targets = [worker] }
  components {
    orders { type = generator, rate = %d, keys = 20, template = "${key} 1" }
    keyed  { type = key-by, feeds = [orders], pattern = "^\\\\S+", to = by-key }
    worker { type = count, instances = 2, dispatcher = api }
    tally  { type = count, feeds = [orders] }
    in     { type = tcp, port = 0, format = json-lines }
    taken  { type = discard, feeds = [in] }
  }
  admin { socket = "%%s", http.port = 0 }
}
""" % RATE
NAME = re.compile(r"\bweir_[a-z0-9_]+")
# Of Prometheus itself, and of its language.
LABELS = {"job", "instance", "quantile", "alertname", "alertstate", "severity"}


def until(what, seconds=20):
    end = time.monotonic() + seconds
    answer = what()
    while not answer and time.monotonic() < end:
        time.sleep(0.1)
        answer = what()
    return answer


def fetch(url, seconds=10):
    with urllib.request.urlopen(url, timeout=seconds) as answer:
        return answer.read().decode()


@contextlib.contextmanager
def server(folder):
    """The address of a server's HTTP."""
    config = folder / "weir.conf"
    config.write_text(CONFIG % (folder / "a.sock"), encoding="utf-8")
    with open(folder / "said", "w+", encoding="utf-8") as said, \
            subprocess.Popen([WEIR, "run", str(config), "--json"], stdout=subprocess.DEVNULL,
                             stderr=said) as process:
        try:
            found = until(lambda: re.search(r"http://[0-9.:]+",
                                            (folder / "said").read_text(encoding="utf-8")))
            if not found:
                raise RuntimeError((folder / "said").read_text(encoding="utf-8"))
            yield found[0]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30)


# ---- figures ------------------------------------------------------------------------------------

def series(text):
    """Names of /metrics, each with the labels that it has."""
    found = {}
    for line in text.splitlines():
        match = re.match(r"(weir_\w+)(?:\{(.*)\})? ", line)
        if match:
            found.setdefault(match[1], set()).update(re.findall(r'(\w+)="', match[2] or ""))
    return found


def documented(known):
    """With those that show up only once somebody has asked for them (`latency enable`): a figure of
    docs/METRICS.md has the labels of its group."""
    page = (tap.ROOT / "docs/METRICS.md").read_text(encoding="utf-8")
    for name in re.findall(r"^\| `(weir_([a-z]+)_\w+_seconds)` \| summary", page, re.M):
        group = set().union(*(labels for other, labels in known.items()
                              if other.startswith(f"weir_{name[1]}_")))
        for part in ("", "_sum", "_count"):
            known.setdefault(name[0] + part, set()).update(group)
    return known


def expressions():
    """(where it is, the expression) of the dashboard and the rules."""
    for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]:
        for target in panel.get("targets", []):
            yield f"panel '{panel['title']}'", target["expr"]
    text = RULES.read_text(encoding="utf-8")
    for match in re.finditer(r"- alert: (\w+)\n +expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)", text):
        yield f"alert {match[1]}", match[2] or match[3]


def connectors(text):
    """The figures of sources and sinks, by what /metrics calls them."""
    return {match[1]: float(match[2])
            for match in re.finditer(r"^(connector_\w+\{.*\}) (.*)$", text, re.M)}


def check_connectors(check, folder, target):
    """What a source and a sink count is what was sent, under documented names."""
    of_source = lambda name: f'connector_{name}{{component="in",type="tcp"}}'
    sent = b'{"a": 1}\n{"a": 2}\nno json\n{"a": 3}\n'
    port = int(connectors(fetch(target + "/metrics"))[of_source("port")])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as peer:
        peer.sendall(sent)
        counted = until(lambda: (found := connectors(fetch(target + "/metrics")))[
            of_source("frames_total")] == 3 and found)
        check("a source's frames are in /metrics", counted, connectors(fetch(target + "/metrics")))
        check("so are its bytes, what is no frame, and who is connected",
              counted and counted[of_source("bytes_total")] == len(sent) and
              counted[of_source("bad_frames_total")] == 1 and
              counted[of_source("accepted_total")] == 1 and
              counted[of_source("connections")] == 1, counted)
    gone = until(lambda: connectors(fetch(target + "/metrics"))[of_source("connections")] == 0)
    check("a gauge of theirs falls", gone)
    sink = 'connector_events_total{component="taken",type="discard"}'
    check("what a sink has taken is there, too",
          until(lambda: connectors(fetch(target + "/metrics")).get(sink) == 3))
    own = json.loads(fetch(target + "/metrics.json"))["own"]
    check("and in the JSON", any(one["name"] == "connector_frames_total" and one["value"] == 3
                                 for one in own), own)
    page = (tap.ROOT / "docs/METRICS.md").read_text(encoding="utf-8")
    names = {series.split("{")[0] for series in connectors(fetch(target + "/metrics"))}
    check("docs/METRICS.md has all of them",
          len(names) > 10 and all(f"`{name}`" in page for name in names), names)
    good, said = tap.run(WEIR, "admin", "--socket", folder / "a.sock", "processors", "restart", "in")
    again = connectors(fetch(target + "/metrics"))
    check("one that is restarted begins anew, under the same name",
          good and again.get(of_source("frames_total")) == 0, (said, again))


def labels_of(expression):
    groups = re.findall(r"\b(?:by|on|ignoring|without)\s*\(([^)]*)\)", expression)
    selected = re.findall(r"\{([^}]*)\}", expression)
    return {word.strip() for group in groups for word in group.split(",")} | {
        word for part in selected for word in re.findall(r"(\w+)\s*[=!]", part)}


def check_names(check, known):
    places = list(expressions())
    alerts = RULES.read_text(encoding="utf-8").count("- alert:")
    check("every panel and every alert was looked at",
          sum(where.startswith("alert") for where, _ in places) == alerts and len(places) > 80,
          len(places))
    for where, expression in places:
        names = set(NAME.findall(expression))
        labels = set().union(*(known.get(name, set()) for name in names)) | LABELS
        strange = [name for name in names if name not in known]
        strange += [label for label in labels_of(expression) if label not in labels]
        if strange:
            check(f"{where} is of figures that there are", False, f"{strange} in {expression}")
    check("all figures and labels of the dashboard and the rules exist", True)
    legends = {label for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
               for target in panel.get("targets", [])
               for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])}
    check("so do the labels of its legends", legends <= LABELS | set().union(*known.values()),
          legends)


# ---- Prometheus ---------------------------------------------------------------------------------

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def prometheus(folder, target):
    """The address of a Prometheus that scrapes it once a second."""
    config = folder / "prometheus.yml"
    config.write_text(f"global: {{ scrape_interval: 1s, evaluation_interval: 1s }}\n"
                      f"rule_files: [ '{RULES}' ]\n"
                      f"scrape_configs: [ {{ job_name: weir, static_configs: "
                      f"[ {{ targets: [ '{target.removeprefix('http://')}' ] }} ] }} ]\n",
                      encoding="utf-8")
    port = free_port()
    with open(folder / "prometheus.log", "w", encoding="utf-8") as log, \
            subprocess.Popen(["prometheus", f"--config.file={config}",
                              f"--storage.tsdb.path={folder / 'data'}",
                              f"--web.listen-address=127.0.0.1:{port}"],
                             stdout=log, stderr=log) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=30)


def query(address, expression):
    """(succeeded, the result or the error)."""
    text = urllib.parse.urlencode({"query": expression})
    try:
        answer = json.loads(fetch(f"{address}/api/v1/query?{text}"))
        return True, answer["data"]["result"]
    except urllib.error.HTTPError as error:
        return False, error.read().decode()
    except OSError as error:
        return False, str(error)


def value_of(address, expression):
    good, result = query(address, expression)
    return float(result[0]["value"][1]) if good and len(result) == 1 else None


def check_prometheus(check, folder, target):
    with prometheus(folder, target) as address:
        # A window that is not covered has a rate that is too low.
        scraped = f'count_over_time(weir_uptime_seconds[{SECONDS + 2}s])'
        count = until(lambda: (value_of(address, scraped) or 0) >= SECONDS + 1, 40)
        check("Prometheus scrapes it", count, (folder / "prometheus.log").read_text()[-2000:])
        check("and finds it up", value_of(address, 'up{job="weir"}') == 1)
        for what, expression, wanted in (
                ("a processor", f'rate(weir_processor_handled_total{{processor="tally"}}'
                 f'[{SECONDS}s])', RATE),
                ("a feed", f'rate(weir_feed_published_total{{feed="orders"}}[{SECONDS}s])', RATE),
                ("a dispatcher", f'rate(weir_dispatcher_handled_total{{dispatcher="api"}}'
                 f'[{SECONDS}s])', RATE),
                # keyed and tally beside the workers
                ("the engine", f'rate(weir_handled_total[{SECONDS}s])', 3 * RATE)):
            rate = value_of(address, expression)
            check(f"{expression} is the rate of {what}: {wanted}",
                  rate is not None and abs(rate - wanted) <= 0.1 * wanted, rate)
        wrong = empty = ""
        answers = 0
        for where, expression in expressions():
            expression = expression.replace("$__rate_interval", f"{SECONDS}s").replace(
                "$job", ".*").replace("$instance", ".*")
            good, result = query(address, expression)
            wrong += "" if good else f"{where}: {expression}: {result}\n"
            answers += bool(good and result)
            empty += "" if result else f"{where}\n"
        check("Prometheus understands every panel and every alert", not wrong, wrong)
        check("most panels have something to show", answers > 50, f"{answers}; empty:\n{empty}")
        rules = json.loads(fetch(f"{address}/api/v1/rules"))["data"]["groups"]
        bad = [rule for group in rules for rule in group["rules"] if rule["health"] == "err"]
        check("it evaluates the rules", rules and not bad, bad)


def main():
    with tap.plan() as check:
        ok, said = tap.run(sys.executable, tap.ROOT / "tools/grafana_dashboard.py", "--check")
        check("dist/grafana/weir.json is what its table makes", ok, said)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-prometheus-"))
        try:
            with server(folder) as target:
                tap.run(WEIR, "admin", "--socket", folder / "a.sock", "latency", "enable", "*")
                text = fetch(target + "/metrics")
                check_names(check, documented(series(text)))
                check_connectors(check, folder, target)
                if shutil.which("promtool") is None or shutil.which("prometheus") is None:
                    check.skip("promtool and a real Prometheus", "prometheus is not installed")
                    return
                done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                                      capture_output=True, check=False, timeout=60)
                check("promtool finds nothing to say about /metrics",
                      done.returncode == 0 and not (done.stdout + done.stderr).strip(),
                      done.stdout + done.stderr)
                ok, said = tap.run("promtool", "check", "rules", RULES)
                check("promtool finds nothing wrong with the rules", ok, said)
                ok, said = tap.run("promtool", "test", "rules", RULES_TEST)
                check("every alert comes beyond its bound, and not within it", ok, said)
                check_prometheus(check, folder, target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
