#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files that trials write and that git neither tracks nor ignores are reported once, with a line for .gitignore.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
mkdir src
printf '.orch/\n*.tmp\ncache/\n' >.gitignore
cat >src/save.py <<'P'
import os, sys
n = sys.argv[1]
for folder in ("out/a", "cache"):
    os.makedirs(folder, exist_ok=True)
for name in (f"out/a/model{n}.pt", f"x{n}.tmp", f"cache/{n}"):
    open(name, "w").write(n)
open("src/notes.txt", "w").write(n)
print("loss", n)
P
printf 'print("loss 1")\n' >quiet.py
echo old >src/notes.txt
git add -A
git commit -qm first
ok orch try -x n=1,2,3 -- python3 src/save.py '{n}'
says "3 files that the trials wrote are neither tracked nor ignored by git (the first: out/a/model1.pt), so later runs capture them as source"
says "add the line '/out/' to .gitignore"
same "$(grep -c 'neither tracked' <<<"$err")" 1 'how often it is said'
ok orch try -- python3 quiet.py
says_not 'neither tracked'
echo /out/ >>.gitignore
ok orch try -x n=4,5 -- python3 src/save.py '{n}'
says_not 'neither tracked'
cat >one.py <<'P'
open("src/result.csv", "w").write("1")
print("loss 1")
P
git add one.py .gitignore
git commit -qm second
ok orch try -- python3 one.py
says "1 file that the trials wrote is neither tracked nor ignored by git (the first: src/result.csv)"
says "add the line '/src/result.csv' to .gitignore"
rm src/result.csv
ok orch try --frozen --force -- python3 one.py
says_not 'neither tracked' # kept with the run
rm -rf .git
ok orch try --force -- python3 one.py
says_not 'neither tracked'
