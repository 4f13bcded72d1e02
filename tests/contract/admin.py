# SPDX-License-Identifier: Apache-2.0
"""The contract of `weir admin` and of the Unix socket behind it."""
import tap

with tap.plan() as check:
    check("there is more to come", True)
