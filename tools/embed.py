#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of the live page as one C file, for src/web.

    tools/embed.py OUTPUT DEPFILE WEB

WEB/index.html is "/", the other files of WEB and of WEB/vendor are "/assets/NAME". Each has a strong
ETag of its bytes, and a gzip variant if that is a tenth smaller. What tools/web-assets has not
fetched has a placeholder, so that the page can say that charts are not built in.
"""
import gzip
import hashlib
import pathlib
import sys

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
PLACEHOLDER = b"/* charts are not built in: tools/web-assets fetches them, then build again */\n"
FETCHED = ("uPlot.iife.min.js", "uPlot.min.css")
LETTERS = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


def files_of(web):
    """{path in a URL: (bytes, type)}, and whether charts are among them."""
    found = {}
    for file in sorted([*web.iterdir(), *(web / "vendor").iterdir()]):
        if file.name.startswith(".") or not file.is_file():
            continue
        if file.suffix == ".md" and file.parent == web:
            continue  # for whoever reads the source
        if file.suffix not in TYPES:
            sys.exit(f"embed.py: {file}: no type is known for '{file.suffix}'")
        if not set(file.name) <= LETTERS:
            sys.exit(f"embed.py: {file}: a name is letters, digits, '-', '_' and '.'")
        url = "/" if file == web / "index.html" else f"/assets/{file.name}"
        if url in found:
            sys.exit(f"embed.py: {file}: the name is taken twice")
        found[url] = (file.read_bytes(), TYPES[file.suffix])
    if "/" not in found:
        sys.exit(f"embed.py: {web}/index.html is missing")
    charts = all(f"/assets/{name}" in found for name in FETCHED)
    for name in FETCHED:
        if not charts:
            found[f"/assets/{name}"] = (PLACEHOLDER, TYPES[pathlib.Path(name).suffix])
    return found, charts


def array(name, data):
    lines = [f"static const unsigned char {name}[] = {{"]
    for i in range(0, len(data), 20):
        lines.append("    " + ", ".join(str(byte) for byte in data[i:i + 20]) + ",")
    return "\n".join([*lines, "};", ""]) if data else f"static const unsigned char {name}[] = {{ 0 }};\n"


def main(output, depfile, web):
    web = pathlib.Path(web)
    found, charts = files_of(web)
    parts = ["/* Made by tools/embed.py. SPDX-License-Identifier: Apache-2.0 */", '#include "web/web.h"',
             ""]
    rows = []
    for i, (url, (data, kind)) in enumerate(sorted(found.items())):
        tag = hashlib.sha256(data).hexdigest()[:24]
        parts.append(array(f"plain_{i}", data))
        packed = gzip.compress(data, 9, mtime=0)
        small = len(packed) <= len(data) * 9 // 10
        if small:
            parts.append(array(f"packed_{i}", packed))
        rows.append(f'    {{ .path = "{url}",\n      .type = "{kind}",\n'
                    f'      .data = plain_{i},\n      .size = {len(data)},\n'
                    f'      .etag = "\\"{tag}\\"",\n'
                    + (f'      .packed = packed_{i},\n      .packed_size = {len(packed)},\n'
                       f'      .packed_etag = "\\"{tag}-gz\\"" }},' if small else
                       "      .packed = NULL },"))
    parts += ["const weir__web_file weir__web_files[] = {", *rows, "};",
              "const size_t weir__web_file_count = sizeof(weir__web_files) / sizeof(weir__web_files[0]);",
              f"const bool weir__web_has_charts = {'true' if charts else 'false'};", ""]
    pathlib.Path(output).write_text("\n".join(parts))
    # The folders, too: a new file makes them younger.
    needs = [web, web / "vendor", *sorted(p for folder in (web, web / "vendor")
                                          for p in folder.iterdir() if p.is_file())]
    pathlib.Path(depfile).write_text(
        f"{output}: " + " ".join(str(path).replace(" ", "\\ ") for path in needs) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
