#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A file outside of the repository that the command names and that does not exist yet: when the program writes it, it is
# an output; when somebody else creates it, the result is stale.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
far=$SCRATCH/far
mkdir "$far"
cat >a.py <<'P'
import os, sys, time
name, how = sys.argv[1:3]
if how == "write":
    open(name, "w").write(str(time.time()))
elif how == "folder":
    os.makedirs(name, exist_ok=True); open(name + "/model.pt", "w").write("x")
elif how == "wait":
    open("begun", "w").close()
    while not os.path.exists("go"):
        time.sleep(0.02)
print("acc", 1)
P
printf 'go\nbegun\n' >.gitignore
git add -A
git commit -qm one
# the program writes it: an output, also when it is written again, and when the file was kept for long
for where in "$far/w.txt" ../far/x.txt; do
    ok orch try -- python3 a.py "$where" write
    ok orch try -- python3 a.py "$where" write
    says '1 done before'
    ok orch try --force -- python3 a.py "$where" write
    ok orch try -- python3 a.py "$where" write
    says '1 done before'
done
ok orch try -x f="$far/p.txt" -- python3 a.py '{f}' write
ok orch try -x f="$far/p.txt" -- python3 a.py '{f}' write
says '1 done before'
ok orch try -- python3 a.py "$far/run" folder
ok orch try -- python3 a.py "$far/run" folder
says '1 done before'
# somebody else makes it later, or while the trial runs
ok orch try -- python3 a.py "$far/later.txt" no
ok orch try -- python3 a.py "$far/later.txt" no
says '1 done before'
echo 1 >"$far/later.txt"
ok orch try -- python3 a.py "$far/later.txt" no
says_not '1 done before'
orch try -- python3 a.py "$far/while.txt" wait 2>/dev/null &
pid=$!
await -e begun
sleep 0.05
echo 1 >"$far/while.txt"
sleep 0.05
touch go
wait $pid
ok orch try -- python3 a.py "$far/while.txt" wait
says_not '1 done before'
ok orch try -- python3 a.py "$far/while.txt" wait
says '1 done before'
exit 0
