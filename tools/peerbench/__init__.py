# SPDX-License-Identifier: Apache-2.0
"""The parts of tools/bench-peers: who races whom (catalogue), how a peer is built (workshop), one
measurement (machine), many in turn (race), what they come to (figures), and what is shown of it
(report, plot)."""
