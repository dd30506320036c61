#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files that a Python script names in literal texts are inputs, whether git tracks them or not; files that it writes are
# not.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
mkdir -p ign sub
printf 'ign/\n' >.gitignore
echo 1 >known.csv
echo 2 >ign/set.csv
echo 3 >sub/near.csv
echo 4 >late.csv
echo 5 >"$SCRATCH/far.csv"
cat >sub/t.py <<P
import os
from pathlib import Path
HERE = Path(__file__).parent
def read(name): return float(open(name).read())
print("acc", read("known.csv") + read(Path("ign") / "set.csv") + read(HERE / "near.csv") + read("$SCRATCH/far.csv"))
open("result.csv", "w").write("1\n")
P
git add -A && git commit -qm one
ok orch try -- python3 sub/t.py
for file in known.csv ign/set.csv sub/near.csv "$SCRATCH/far.csv"; do
    ok orch try -- python3 sub/t.py
    says "1 done before"
    echo 7 >>"$file"
    sed -i '$!d' "$file"
    ok orch try -- python3 sub/t.py
    says_not "1 done before"
    says "$(basename "$file") changed"
done
echo 9 >late.csv # nobody names it
ok orch try -- python3 sub/t.py
says "1 done before"
