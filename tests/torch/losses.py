#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the training engine to the numbers that it gave before (tests/torch/losses.txt).

usage: losses.py PROGRAM KEPT            compares what PROGRAM (tests/torch/losses.c) prints with the file KEPT
       losses.py PROGRAM KEPT --keep     writes KEPT anew, with every 5th step: after a change that is meant to alter it

With the LibTorch and processor that KEPT was made with, every number must be equal to the last bit. With others the
order of sums differs, and by step 20 such differences have grown to several per cent: the losses of a training's first 5 steps
must agree to 1 %, which a wrong batch, rate or update does not; a finetuning's are not compared, as it begins with weights in which 20 steps of such differences have added up.
In either case a training that was resumed half-way must equal the whole one to the last bit.
"""
import subprocess
import sys
import tempfile

FIRST = 5  # steps that are compared between machines


def is_kept(name, step):
    return name != "step_loss" or int(step) % 5 == 0 or int(step) <= FIRST


def parse(lines):
    """[header, {(case, name, step): value}]; a resumed training's later attempt replaces what the first had said."""
    header, values = "", {}
    for line in lines:
        if line.startswith("#"):
            header = line[2:].strip()
        else:
            case, name, step, value = line.split()
            values[case, name, step] = float.fromhex(value)
    return header, values


def run(program):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, folder], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("losses.py: '%s' ended with status %d" % (program, done.returncode))
    return parse(done.stdout.splitlines())


def keep(path, header, values):
    with open(path, "w") as out:
        print("# " + header, file=out)
        for (case, name, step), value in values.items():
            if is_kept(name, step):
                print(case, name, step, value.hex(), file=out)


def resumed_differs(values):
    """Numbers of a resumed training that are not those of the whole one."""
    return ["%s %s %s: %r resumed, %r whole" % (case, name, step, value, values[whole, name, step])
            for (case, name, step), value in values.items() if case.endswith("-resumed")
            for whole in [case[:-len("-resumed")]] if values.get((whole, name, step)) != value]


def differs(kept, values, is_same_machine):
    wrong = []
    for key, value in kept.items():
        case, name, step = key
        new = values.get(key)
        if new is None:
            wrong.append("%s %s %s: missing" % key)
        elif is_same_machine and new != value:
            wrong.append("%s %s %s: %r, was %r" % (key + (new, value)))
        elif not is_same_machine and case.startswith("finetune"):
            continue
        elif name == "step_loss" and int(step) <= FIRST and abs(new - value) > 0.01 * abs(value):
            wrong.append("%s %s %s: %r, was %r (tolerance 1 %%)" % (key + (new, value)))
    return wrong


def main():
    program, path = sys.argv[1:3]
    header, values = run(program)
    if sys.argv[3:] == ["--keep"]:
        keep(path, header, values)
        return
    with open(path) as file:
        kept_header, kept = parse(file)
    is_same = header == kept_header
    wrong = resumed_differs(values) + differs(kept, values, is_same)
    print("%s: %d numbers compared with those of %s, %s" %
          (header, len(kept), kept_header, "to the last bit" if is_same else "the first %d steps to 1 %%" % FIRST))
    if wrong:
        sys.exit("\n".join(wrong[:20]) + "\nlosses.py: %d numbers differ" % len(wrong))


if __name__ == "__main__":
    main()
