# SPDX-License-Identifier: GPL-3.0-or-later
"""layer_calls.py ROOT LEAST: which functions of lower folders the commands call.

docs/layers.txt holds what core/cli and core/commands include. A header of core that includes one of the store would let it call the store
all the same, so the calls are held here: a function that store, predictors or lib (but lib/base) declare in a header may
be named in the two only if docs/layer_calls.txt lists it, and what is listed must be called. A line of that file: the
functions, a colon, why a command may call them. LEAST is the number of declared functions below which the search itself
is broken.
"""
import pathlib
import re
import sys

CLEAN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
FUNCTION = re.compile(r"\b(orch_\w+)\s*\(")
TYPE = re.compile(r"\b(?:struct|enum|union)\s+\w+")
WORD = re.compile(r"\borch_\w+")


def cleaned(path):
    return DIRECTIVE.sub(" ", CLEAN.sub(" ", path.read_text(encoding="utf-8")))


def declared(root):
    """Function -> the header that declares it, of all folders below core but lib/base."""
    found = {}
    for folder in ("store", "predictors", "lib"):
        for path in sorted((root / folder).rglob("*.h")):
            name = str(path.relative_to(root))
            if not name.startswith("lib/base/"):
                for function in FUNCTION.findall(cleaned(path)):
                    found.setdefault(function, name)
    return found


def listed(root):
    names = []
    for number, line in enumerate((root / "docs/layer_calls.txt").read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        functions, colon, reason = line.partition(":")
        if not colon or not reason.strip():
            sys.exit(f"docs/layer_calls.txt:{number}: no reason after a colon")
        names += functions.split()
    return names


def main(root, least):
    functions = declared(root)
    if len(functions) < least:
        sys.exit(f"only {len(functions)} declared functions were found")
    called = {}
    for path in sorted([*(root / "core/cli").glob("*.[ch]"), *(root / "core/commands").glob("*.[ch]")]):
        for word in set(WORD.findall(TYPE.sub(" ", cleaned(path)))):
            if word in functions:
                called.setdefault(word, []).append(str(path.relative_to(root)))
    may = listed(root)
    faults = [f"{', '.join(files)}: '{name}' is of {functions[name]}: ask a room of core"
              for name, files in sorted(called.items()) if name not in may]
    faults += [f"docs/layer_calls.txt: '{name}' is not called by core/cli nor core/commands" for name in may if name not in called]
    faults += [f"docs/layer_calls.txt: '{name}' is there twice" for name in sorted({n for n in may if may.count(n) > 1})]
    print("\n".join(faults + [f"{len(called)} functions of {len(functions)} are called"]))
    sys.exit(1 if faults else 0)


main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
