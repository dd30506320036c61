#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A program receives each value as it was typed, whatever number it looks like; sorting and filtering use the parsed
# number.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >a.py <<'P'
import sys
open(sys.argv[2], "w").write(sys.argv[1])
print("n 1")
P
printf 'print("n 1")\n' >c.py
git add -A
git commit -qm first
for v in 0123 1.10 72225e2 1e-3 +5 12345678901234567890 18446744073709551615 1_000 9007199254740993.5 '' ' x' 'a$b' '${HOME}' 'range(1,2)' '"1"' True; do
    ok orch try --force -s "v=$v" -- python3 a.py '{v}' "$SCRATCH/arg"
    same "$(<"$SCRATCH/arg")" "$v" 'what the program got'
done
# two spellings are two settings of a program, and are shown with the digits that were typed
ok orch try --name two -x v=1.10,1.1,1e0 -- python3 c.py '{v}'
says '3 ok'
says 'v=1.10'
says 'v=1e0'
ok orch try --name two -x v=1.1 -- python3 c.py '{v}'
says 'nothing to run'
fails 2 orch try -n -x v=1.1,1.1 -- python3 a.py '{v}'
says 'twice'
says_not 'has no value'
# filters compare numbers
ok orch ls --where 'experiment=two and v > 1.05' --json
same "$(json runs.#)" 2
ok orch try --name long -x v=1_000,0020 -- python3 c.py '{v}'
ok orch ls --where 'experiment=long and v >= 1000' --json
same "$(json runs.#)" 1
same "$(json runs.0.setting.v)" 1_000
# an empty text alone and beside another value
ok orch try -n -s v= -- python3 a.py 'x{v}' o
ok orch try -n -x v=,a -- python3 a.py 'x{v}' o
has 'v=a'
# NAME:text=... is a text also where numbers are read
cat >b.py <<'P'
import json, os
print(json.dumps({"is_text": float(isinstance(json.loads(os.environ["ORCH_PARAMS"])["v"], str))}))
P
ok orch try -s v=5 --env -- python3 b.py
ok orch show @last --json
same "$(json metrics.0.last)" 0.0
ok orch try -s v:text=5 --env -- python3 b.py
ok orch show @last --json
same "$(json metrics.0.last)" 1.0
ok orch try -n -x v:text=1,2,w=3,4 -- python3 a.py '{v}' '{w}'
says '4 missing'
# the values of a recipe's program and of a NAME.plugin, too; a compiled plugin's are numbers, however they are written
cat >mine.plugin <<'P'
plugin: mine
version: 1.0.0
about: prints
command: [python3, a.py, "${v}", "${out}"]
metrics_from: lines
metrics: any
parameters:
  v: {type: real, default: 1e-1, min: 0}
  out: {type: string}
P
cat >r.recipe <<R
format: 1
recipe: r
experiments:
  mine: {plugin: ./mine.plugin, with: {out: "$SCRATCH/arg"}}
  nap: {plugin: sleep, sweep: {seconds: [1e-3, 0.0010]}}
R
fails 2 orch plan r.recipe
says "sweep 'seconds' has the value 0.001 twice"
sed -i 's/, 0.0010//' r.recipe
git add -A
git commit -qm more
ok orch run r.recipe mine
same "$(<"$SCRATCH/arg")" 1e-1
ok orch run r.recipe mine -s v=0.50
same "$(<"$SCRATCH/arg")" 0.50
fails 2 orch run r.recipe mine -s v=-0.50
says 'below its minimum'
