# SPDX-License-Identifier: Apache-2.0
"""Mistakes that the compiler must refuse: one a file in tests/contract/misuse/."""
import tap

FOLDER = tap.ROOT / "tests/contract/misuse"
# Really compiled: gcc finds an ignored status only then, -fsyntax-only is not enough.
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-c", "-o", "/dev/null",
         f"-I{tap.ROOT / 'include'}"]
# Each is refused for its own reason, not for a typing error in the case: a piece of the message.
REASONS = {
    "01_wrong_handle": ("incompatible type",),
    "02_ignored_status": ("warn_unused_result", "unused-result"),
    "03_wrong_field": ("title",),
    "04_reply_from_outside": ("incompatible-pointer-types", "incompatible pointer type"),
    "05_write_to_event": ("discarded-qualifiers", "discards qualifiers"),
    "06_wrong_options": ("incompatible-pointer-types", "incompatible pointer type"),
    "07_blocking_turn": ("incompatible-pointer-types", "incompatible pointer type"),
    "08_wrong_handler": ("incompatible-pointer-types", "incompatible function pointer",
                         "incompatible pointer type"),
    "09_router_as_processor": ("incompatible type",),
}

with tap.plan() as check:
    cases = sorted(FOLDER.glob("*.c"))
    check("every case has a reason", {c.stem for c in cases} == set(REASONS) | {"00_control"})
    for compiler in tap.compilers("gcc", "clang"):
        for case in cases:
            sentence = case.read_text().split("*/")[0].split("SPDX")[0].strip("/* .\n")
            good, said = tap.run(compiler, *FLAGS, case)
            if case.stem == "00_control":
                check(f"{compiler} compiles the control", good, said)
                continue
            reason = [piece for piece in REASONS[case.stem] if piece in said]
            check(f"{compiler} refuses {case.stem}: {sentence}", not good and reason, said)
            errors = [line for line in said.splitlines() if ": error:" in line]
            check(f"and for that reason alone ({case.stem})", len(errors) == 1, said)
