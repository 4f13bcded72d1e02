# SPDX-License-Identifier: Apache-2.0
"""What users see of `weir types`: all types, the keys of one, plugins, JSON."""
import json

import server
import tap

with tap.plan() as check:
    status, out, error = server.weir("types")
    check("all types are listed", status == 0 and "generator" in out and "source" in out and
          "recorder-sink" not in out, out + error)
    status, out, error = server.weir("types", "--plugin", server.RECORDER)
    check("with those of a plugin", status == 0 and "recorder-sink" in out and "generator" in out,
          out + error)
    status, out, error = server.weir("types", "recorder-source", "--plugin", server.RECORDER)
    check("one is shown with its keys, kinds, defaults, bounds and help", status == 0 and
          "recorder-source: a source of recorder 1.0.0" in out and
          "log: text; required" in out and "count: integer, 0 to 1000000000; default 0" in out and
          "fail: one of never, init, start" in out and "nested.depth: integer, 1 to 9; default 1"
          in out and "A key in a group." in out, out + error)
    status, out, error = server.weir("types", "--json", "--plugin", server.RECORDER)
    types = {one["name"]: one for one in json.loads(out)}
    options = {option["key"]: option for option in types["recorder-source"]["options"]}
    check("the same as JSON", status == 0 and types["recorder-source"]["kind"] == "source" and
          options["log"]["required"] and options["count"]["default"] == "0" and
          options["count"]["max"] == 1e9 and options["fail"]["words"][0] == "never" and
          "nested.depth" in options, out)
    check("every type of weir's own has help, and every key", all(
        one["help"] and all(option["help"] for option in one["options"]) for one in types.values()
        if one["plugin"] != "recorder"), [
            (one["name"], [option["key"] for option in one["options"] if not option["help"]])
            for one in types.values()])
    status, out, _ = server.weir("types", "--json", "generator")
    check("one alone as JSON", [one["name"] for one in json.loads(out)] == ["generator"], out)
    status, _, error = server.weir("types", "generater")
    check("an unknown one: the nearest", status == 2 and "did you mean 'generator'?" in error, error)
    status, _, error = server.weir("types", "--plugin", "/absent.so")
    check("a plugin that cannot be loaded is told", status == 1 and "/absent.so" in error, error)
    status, _, error = server.weir("types", "a", "b")
    check("one at a time", status == 2, error)
