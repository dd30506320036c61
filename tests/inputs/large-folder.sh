#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A folder with more than 10,000 files is compared by names, sizes and times, and the plan says so.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir data
printf 'data/\n' >.gitignore
printf 'import sys; print("acc", 1)\n' >a.py
(cd data && seq 10001 | xargs touch)
git add -A && git commit -qm one
ok orch try -- python3 a.py data
ok orch try --dry-run -- python3 a.py data
has "data is too large to be read: compared by names, sizes and times"
echo x >data/7
ok orch try -- python3 a.py data
says_not "1 done before"
says "data changed"
rm data/8
ok orch try -- python3 a.py data
says "1 trial:"
says_not "1 done before"
rm data/9
ok orch try -- python3 a.py data
ok orch try --dry-run -- python3 a.py data
has_not "too large"
