#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""walk.py TREE ORCH gpu|repeat ARGUMENT...: which way an option's value takes through the program.

ORCH is built from TREE without optimisation (-O0 -g). valgrind lists the functions that `ORCH ARGUMENT...` enters, gdb stops once
in each. The walk is these functions in the order in which they are first entered. A stay is a function that has the value in an
argument: as text, in a struct with this text or the row that it names (through two pointers at most), or in a struct computed from
it (MADE). A function that has it only in the command line or the question (CARRIERS), must name it as well. A number cannot be
told from other numbers: there, naming it is enough. A room is a folder. A return is a stay in another room than the stay before,
in which the walk was already. For `gpu`, the stays before the answer starts are counted by themselves, too.
"""
import os
import re
import subprocess
import sys
import tempfile

MADE = {"gpu": """prior transfer transfer_error roofline_device kernel_gpu kernel_model rate exchange candidate step_answer
    prior_step step_energy near_answer near_step""".split(), "repeat": ["repeat_rule"]}[os.environ.get("WALK", "gpu")]
CARRIERS = {"time_options", "predict_options", "orch_time_question", "try_options", "orch_ad_hoc", "orch_cli"}
NAMES = {"gpu": re.compile(r"\b(gpus?|device)\b"), "repeat": re.compile(r"\brepeats?\b")}
ROWS = {"V100": "V100-SXM2-16GB"}


def text_at(gdb, value):
    try:
        return value.string("latin1", "replace", 256).split("\0")[0] if int(value) else ""
    except (gdb.MemoryError, gdb.error, ValueError):
        return ""


def owners(gdb, value, texts, depth, inside):
    """The structs in which the value is found, "" for a text by itself."""
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_PTR and int(value):
        to = kind.target().strip_typedefs()
        if to.code == gdb.TYPE_CODE_INT and to.sizeof == 1:
            return {inside} if text_at(gdb, value) in texts else set()
        if to.code == gdb.TYPE_CODE_PTR and to.target().strip_typedefs().sizeof == 1:
            words = [text_at(gdb, value[i]) for i in range(32)]
            return {inside} if set(words[: (words + [""]).index("")]) & set(texts) else set()
        if to.code == gdb.TYPE_CODE_STRUCT and (depth or (to.tag or "")[5:] in MADE):
            return owners(gdb, value.dereference(), texts, depth - 1, inside)
    found = set()
    if kind.code == gdb.TYPE_CODE_STRUCT and kind.tag != "orch_hardware":
        if (kind.tag or "").startswith("orch_") and kind.tag[5:] in MADE:
            return {kind.tag}
        for field in (f for f in kind.fields() if f.name):
            try:
                found |= owners(gdb, value[field], texts, depth, kind.tag or inside)
            except (gdb.MemoryError, gdb.error):
                pass
    return found


def trace(gdb):
    texts = os.environ["WALK_TEXTS"].split("|")
    out = open(os.environ["WALK_OUT"], "w", encoding="utf-8")

    class Stop(gdb.Breakpoint):
        def stop(self):
            self.enabled = False
            frame = gdb.selected_frame()
            found = set()
            for symbol in (s for s in frame.block() if s.is_argument):
                try:
                    found |= owners(gdb, frame.read_var(symbol), texts, 2, "")
                except (gdb.MemoryError, gdb.error):
                    pass
            line = frame.function().line
            print(self.place, self.name, line, "have" if found else "-", *sorted(found), sep="\t", file=out, flush=True)
            return False

    for command in ("set pagination off", "set confirm off", "set print elements 0", "break main", "run"):
        gdb.execute(command)
    for line in open(os.environ["WALK_FUNCTIONS"], encoding="utf-8"):
        place, name = line.split()
        try:
            point = Stop(f"-source {place} -function {name}", internal=True)
            point.silent, point.place, point.name = True, place, name
        except gdb.error:
            pass
    gdb.execute("delete 1")
    gdb.execute("continue")


def entered(tree, listing):
    """(file, function) of each function of the tree that callgrind saw."""
    files, names, found, file = {}, {}, {}, None
    for line in open(listing, encoding="utf-8", errors="replace"):
        match = re.match(r"(c?)(fl|fi|fe|fn)=\((\d+)\)(?: (.*))?$", line)
        if not match:
            continue
        table = names if match[2] == "fn" else files
        if match[4]:
            table[match[3]] = match[4].split("'")[0]
        if match[1]:
            continue
        if match[2] == "fl":
            file = os.path.realpath(os.path.join(tree, "build", files[match[3]]))
        elif match[2] == "fn" and file and os.path.isfile(file) and file.startswith(tree + "/"):
            found[file, names[match[3]]] = True
    return sorted(found)


def body(tree, place, line):
    with open(os.path.join(tree, place), encoding="utf-8") as file:
        lines = file.read().split("\n")[line - 1:]
    text = "\n".join(lines[:lines.index("}")] if "}" in lines else lines)
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', "", text, flags=re.S)


def count(name, stays):
    rooms, returns, last = [], 0, None
    for place, _ in stays:
        room = os.path.dirname(place)
        returns += room != last and room in rooms
        rooms += [room] if room not in rooms else []
        last = room
    print(f"{name}: {len(stays)} stays in {len(rooms)} rooms, {returns} returns")


def main(tree, orch, which, *arguments):
    tree, out = os.path.realpath(tree), os.path.abspath("walk.tsv")
    value = arguments[arguments.index("--" + which) + 1]
    texts = "|".join([value, ROWS.get(value, value)])
    environment = dict(os.environ, WALK=which, WALK_TEXTS=texts, WALK_OUT=out, WALK_FUNCTIONS=out + ".functions")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    orch = os.path.abspath(orch)
    with tempfile.TemporaryDirectory() as here:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}.callgrind", orch, *arguments]
        subprocess.run(command, check=False, cwd=here, **quiet)
    with open(out + ".functions", "w", encoding="utf-8") as file:
        file.writelines(f"{place} {name}\n" for place, name in entered(tree, out + ".callgrind"))
    with tempfile.TemporaryDirectory() as here:
        subprocess.run(["gdb", "-q", "-batch", "-x", os.path.abspath(__file__), "--args", orch, *arguments], check=True, cwd=here, **quiet)
    stays, last = [], None
    for row in open(out, encoding="utf-8"):
        place, name, line, have, *inside = row.rstrip("\n").split("\t")
        place = os.path.relpath(place, tree)
        is_named = NAMES[which].search(body(tree, place, int(line))) is not None
        is_stay = have == "have" and (is_named or not set(inside) <= CARRIERS) or which == "repeat" and is_named
        if is_stay:
            stays.append((place, name))
            print(f"{'' if os.path.dirname(place) == last else os.path.dirname(place)}\t{os.path.basename(place)}\t{name}")
            last = os.path.dirname(place)
        if name == "orch_cli_predict_step":
            count("options", stays[:-1])
    count("whole", stays)


try:
    import gdb as debugger
except ImportError:
    main(*sys.argv[1:])
else:
    trace(debugger)
