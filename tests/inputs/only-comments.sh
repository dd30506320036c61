#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A changed comment or blank line in Python does not make a run stale, and the plan says so; a changed docstring does.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
printf 'def half():\n    "the half"\n    return 0.5\n' >m.py
printf 'import m\nprint("acc", m.half())\n' >a.py
printf 'import m\nprint("acc", m.half() / 2)\n' >b.py
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  a: {program: [python3, a.py]}
R
git add -A && git commit -qm one
ok orch try -- python3 a.py
ok orch try -- python3 b.py
printf '# about m\n\ndef half():  # half\n    "the half"\n\n    return 0.5\n' >m.py
ok orch try -- python3 a.py
says "1 done before"
ok orch try --dry-run -- python3 a.py
has "only comments changed since"
ok orch try -- python3 b.py
says "1 done before"
printf 'def half():\n    "one half"\n    return 0.5\n' >m.py
ok orch try -- python3 a.py
says_not "1 done before"
says "m.py changed"
printf 'def half():\n    "one half"\n    return 0.25 # 0.5\n' >m.py
ok orch try -- python3 a.py
says_not "1 done before"
