# SPDX-License-Identifier: GPL-3.0-or-later
"""schema.py RECIPE-SCHEMA PLUGIN-SCHEMA SOURCE: the files of the tree fit, broken ones do not, and orch agrees."""
import datetime
import json
import pathlib
import subprocess
import sys

import jsonschema
import ruamel.yaml

RECIPE = """\
format: 1
recipe: whole
seed: 7
profiles: { quick: { jobs: 2, experiments: { a: { repeat: 1 } } } }
problems: { p1: [a] }
allowance: { usd: 20 }
slurm: { partition: gpu, time: 2h, setup: [module load x] }
experiments:
  a:
    program: sh -c "echo loss=${x}"
    sweep: { x: [1, 2] }
    repeat: 2
    timeout: 1h30min
    resources: { cores: 1, memory: 2GiB, exclusive: no }
    reuse: any
    retries: 0
    metrics: { loss: min }
  b:
    program: [sh, -c, "echo loss=${x}"]
    search: { x: "int(1, 5)" }
    objective: { metric: min loss, trials: 4, sampler: random }
report:
  - { title: A table, table: { rows: x, value: last loss } }
  - { question: "1", points: 2, text: A text }
  - { question: "2", points: 3, student: }
"""
# what is written instead of what, and a recipe is broken
BROKEN = [
    ("format: 1", "format: 2"), ("format: 1\n", ""), ("recipe: whole\n", ""), ("recipe: whole", "recipe: Whole"),
    ("recipe: whole", "recipe: [whole]"), ("seed: 7", "seed: -7"), ("seed: 7", "seed: seven"), ("seed: 7", "sede: 7"),
    ("seed: 7", "share: all"), ("seed: 7", "require_clean: perhaps"), ("seed: 7", "jobs: 0"), ("seed: 7", "jobs: [2]"),
    ("profiles: { quick: { jobs: 2, experiments: { a: { repeat: 1 } } } }", "profiles: [quick]"),
    ("jobs: 2", "job: 2"), ("{ repeat: 1 }", "{ repeats: 1 }"), ("{ repeat: 1 }", "{ repeat: none }"),
    ("quick:", "Quick:"), ("p1: [a]", "p1: { a: 1 }"), ("{ usd: 20 }", "{ eur: 20 }"), ("{ usd: 20 }", "[20]"),
    ("partition: gpu", "partitoin: gpu"), ("time: 2h", "time: 2 parsecs"), ("setup: [module load x]", "setup: { a: b }"),
    ("  a:\n", "  A:\n"), ('    program: sh -c "echo loss=${x}"\n', ""), ("sweep: { x: [1, 2] }", "sweep: [1, 2]"),
    ("sweep: { x: [1, 2] }", "sweep: { x: [] }"), ("sweep: { x: [1, 2] }", "sweep: { x: { y: 1 } }"),
    ("    repeat: 2", "    repeat: 0"), ("    repeat: 2", "    repeat: 1.5"), ("1h30min", "30 bananas"),
    ("cores: 1", "cores: many"), ("cores: 1", "core: 1"), ("memory: 2GiB", "memory: large"), ("exclusive: no", "exclusive: 3"),
    ("reuse: any", "reuse: always"), ("retries: 0", "retries: 101"), ("{ loss: min }", "{ loss: lowest }"),
    ("{ loss: min }", "{ loss: { untit: s } }"), ("metric: min loss, ", ""), ("trials: 4", "trials: 0"),
    ("metric: min loss", "metric: min loss, metrics: [min loss]"),
    ("sampler: random", "sampler: dice"), ("trials: 4", "trails: 4"), ("- { title: A table, table:", "- { title: A table, tabel:"),
    ("{ rows: x, value: last loss }", "{ row: x, value: last loss }"), ("{ rows: x, value: last loss }", "[x]"),
    (", table: { rows: x, value: last loss }", ""), ("points: 2", "points: two"), ("text: A text", "text: A, facts: { value: x }"),
    ("text: A text", "text: [A]"), ("report:\n", "report: yes\nnotes:\n"), ("  - { title", "  - text\n  - { title"),
]
PLUGIN = """\
about: a test
metrics_from: lines
needs: { gpus: 0, memory: 1GiB }
parameters:
  lr: { type: real, default: 0.1, min: 0 }
  n: 3
metrics: { loss: min, acc: { better: max, unit: "%" } }
artifacts: { weights: w.pt }
command: [sh, -c, "echo ${lr} ${n}"]
"""
BROKEN_PLUGIN = [
    ("about: a test", "abuot: a test"), ("lines", "words"), ("gpus: 0", "gpu: 0"), ("gpus: 0", "gpus: -1"),
    ("needs: { gpus: 0, memory: 1GiB }", "needs: 1"), ("min: 0", "minimum: 0"), ("loss: min", "loss: low"),
    ("better: max", "best: max"), ("weights: w.pt", "weights: { file: w.pt }"), ('command: [sh, -c, "echo ${lr} ${n}"]\n', ""),
    ('[sh, -c, "echo ${lr} ${n}"]', "{ sh: 1 }"), ('[sh, -c, "echo ${lr} ${n}"]', "[]"),
]
WRONG = []
# files of the tree that orch refuses, too, or that are no YAML before a command fills them in
REFUSED = ("tests/fuzz/corpus/", "share/templates/")


def plain(value):
    """The values that JSON has: an editor reads a date as a text."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return str(value) if isinstance(value, (datetime.date, datetime.datetime)) else value


def load(text):
    return plain(ruamel.yaml.YAML(typ="safe", pure=True).load(text))


def faults(validator, text):
    return [f"{e.json_path}: {e.message[:200]}" for e in validator.iter_errors(load(text))]


def orch_refuses(name, text):
    path = pathlib.Path(name)
    path.write_text(text)
    command = ["orch", "check", name] if name.endswith(".recipe") else ["orch", "plugin", "show", "./" + name]
    refused = subprocess.run(command, capture_output=True).returncode
    path.unlink()
    return refused != 0


def check(validator, name, good, broken):
    assert not faults(validator, good) and not orch_refuses(name, good), (name, faults(validator, good))
    for old, new in broken:
        assert good.count(old) >= 1, old
        text = good.replace(old, new, 1)
        if not faults(validator, text):
            WRONG.append(f"{name} with {new!r} fits the schema")
        if not orch_refuses(name, text):
            WRONG.append(f"orch accepts {name} with {new!r}")


def main():
    recipe, plugin = (json.loads(pathlib.Path(p).read_text()) for p in sys.argv[1:3])
    for schema in (recipe, plugin):
        jsonschema.Draft202012Validator.check_schema(schema)
    judges = {".recipe": jsonschema.Draft202012Validator(recipe), ".plugin": jsonschema.Draft202012Validator(plugin)}
    source, count = pathlib.Path(sys.argv[3]), 0
    for folder in ("recipes", "plugins", "docs", "tests", "bench", "share", "conda"):
        for path in sorted((source / folder).rglob("*")):
            shown = str(path.relative_to(source))
            if path.suffix in judges and not shown.startswith(REFUSED):
                found = faults(judges[path.suffix], path.read_text())
                assert not found, (shown, found)
                count += 1
    assert count > 10, count
    assert len(BROKEN) >= 40
    check(judges[".recipe"], "whole.recipe", RECIPE, BROKEN)
    check(judges[".plugin"], "whole.plugin", PLUGIN, BROKEN_PLUGIN)
    sys.exit("\n".join(WRONG) or None)


main()
