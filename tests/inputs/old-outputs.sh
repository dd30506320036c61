#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files from an earlier run by hand that the script overwrites are not inputs: the sweep stays in the user's folder, and
# is complete the second time.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >a.py <<'P'
import json, sys
PATH = "net.pth"
cfg = json.load(open("cfg.json"))
hist = "hist.txt"
h = open(hist, "a"); h.write("x")
with open(PATH, "wb") as f: f.write(b"x")
print("acc", cfg["a"] + float(sys.argv[1]))
P
echo '{"a": 1}' >cfg.json
git add -A
git commit -qm one
echo old >net.pth
echo old >hist.txt
ok orch try -x n=1,2,3 -- python3 a.py '{n}'
says "3 ok"
says_not "apart"
ok orch try -x n=1,2,3 -- python3 a.py '{n}'
says "3 done before"
echo '{"a": 2}' >cfg.json
ok orch try -x n=1,2,3 -- python3 a.py '{n}'
says "cfg.json changed"
says "3 ok"
