#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A log through `weir run`, small: tools/real-data says what is done with it. The night runs it with
2 GB."""
import os
import pathlib
import subprocess
import sys

import tap

SIZE = os.environ.get("WEIR_REAL_DATA_SIZE", "50MB")


def main():
    build = pathlib.Path(os.environ.get("WEIR_COMMAND", tap.BUILD / "weir")).parent
    ran = subprocess.run([tap.BUILD / "weir", "types"], stdout=subprocess.PIPE, text=True, check=False)
    if "file-sink" not in ran.stdout or not (build / "examples/plugins/counter.so").exists():
        print("1..0 # SKIP this weir was built without a server, or without the examples' plugins")
        return 0
    return subprocess.run([sys.executable, tap.ROOT / "tools/real-data", "--size", SIZE, "--build",
                           build], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
