#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Parameters of the Python module: nested mappings of every kind become dotted names, and parameters with text defaults
# receive texts.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
export PYTHONPATH=$SOURCE/share/python
cat >c.py <<'P'
import argparse, collections, dataclasses, sys, types, orch
class Keyed:
    def __init__(self, d): self.d = d
    def keys(self): return self.d.keys()
    def __getitem__(self, name): return self.d[name]
@dataclasses.dataclass
class Inner:
    m: float = 0.9
@dataclasses.dataclass
class Outer:
    lr: float = 0.1
    opt: Inner = dataclasses.field(default_factory=Inner)
class Slots:
    __slots__ = ("lr", "opt")
    def __init__(self): self.lr, self.opt = 0.1, {"m": 0.9}
class Plain:
    lr = 0.1
    opt = {"m": 0.9}
class Flags:  # as absl's
    def flags_by_module_dict(self):
        flag = lambda n, v: types.SimpleNamespace(name=n, value=v)
        return {"absl.logging": [flag("v", 0)], "__main__": [flag("lr", 0.1), flag("opt", {"m": 0.9})]}
Pair = collections.namedtuple("Pair", "lr opt")
configs = {
    "dict": {"lr": 0.1, "opt": {"m": 0.9}}, "user": collections.UserDict(lr=0.1, opt=collections.UserDict(m=0.9)),
    "chain": collections.ChainMap({"lr": 0.1}, {"opt": collections.OrderedDict(m=0.9)}),
    "proxy": types.MappingProxyType({"lr": 0.1, "opt": types.MappingProxyType({"m": 0.9})}),
    "args": argparse.Namespace(lr=0.1, opt=argparse.Namespace(m=0.9)), "tuple": Pair(0.1, Inner()),
    "data": Outer(), "slots": Slots(), "class": Plain, "keys": Keyed({"lr": 0.1, "opt": Keyed({"m": 0.9})}), "flags": Flags()}
for kind, config in configs.items():
    run = orch.start(config, kind=kind)
    run.end()
run = orch.start({"learning rate": 1, "learning_rate": 2}, kind="names"); run.end()
try: orch.start([1, 2])
except orch.Error as error: print(error)
P
git add -A
git commit -qm first
ok python3 c.py
has 'cannot read parameters from a list'
says "'learning_rate_2'"
ok orch ls -n 0 --where 'lr = 0.1 and opt.m = 0.9' --json
same "$(json runs.#)" 11 'mappings that were read'
ok orch ls --where 'learning_rate = 1 and learning_rate_2 = 2' --json
same "$(json runs.#)" 1
printf 'import orch\nrun = orch.start(v="x", n=1.0)\nassert (run.v, run.n) == ("1.10", 1.1), run.params\nprint("n 1")\n' >t.py
ok orch try -s v=1.10 -s n=1.10 -- python3 t.py
