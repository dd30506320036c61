#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test: quick
# 'orch compare --format junit|github': what a system of continuous integration shows; the status is that of the limits.
. "$(dirname "$0")/../cli/lib.sh"
printf '#!/bin/sh\necho "loss=$1.0$2"\necho "acc=0.$2"\n' >a.sh
chmod +x a.sh
ok orch try -x x=1,2 --repeat 5 -- ./a.sh {x} {seed}
sides=('x = 1' 'x = 2')
fails 7 orch compare "${sides[@]}" --format junit --fail-on 'loss > 3%'
says 'loss changed by'
cat >junit.py <<'P'
import sys, xml.etree.ElementTree as tree
root = tree.fromstring(sys.stdin.read())
suite, = root
cases = {c.get("name"): c for c in suite}
assert root.tag == "testsuites" and suite.tag == "testsuite", root.tag
assert suite.get("tests") == str(len(cases)) and suite.get("failures") == root.get("failures") == sys.argv[1], suite.attrib
assert sum(c.find("failure") is not None for c in cases.values()) == int(sys.argv[1])
assert set(cases) >= {"loss", "acc"}, cases
assert all(c.find("system-out").text for c in cases.values())
print(suite.get("name"))
P
same 'x = 2 against x = 1' "$(python3 junit.py 1 <<<"$out")"
ok orch compare "${sides[@]}" --format junit
same 'x = 2 against x = 1' "$(python3 junit.py 0 <<<"$out")"
# texts that XML and a runner's command would take for their own
ok orch compare 'x = 1 and state != "<&"' 'x = 2' --format junit
python3 junit.py 0 <<<"$out" >/dev/null || _fail 'the names of sides are not escaped'

export GITHUB_STEP_SUMMARY=summary.md
echo 'what was there' >summary.md
fails 7 orch compare "${sides[@]}" --format github --fail-on 'loss > 3%'
has '::error title=orch compare::loss changed by'
has '3%25'
has '::notice title=orch compare::acc: '
[ "$(grep -c '^| loss |' summary.md) $(head -1 summary.md)" = '1 what was there' ] || _fail "$(<summary.md)"
ok env -u GITHUB_STEP_SUMMARY orch compare "${sides[@]}" --format github -m acc
same 1 "$(grep -c . <<<"$out")"
fails 3 env GITHUB_STEP_SUMMARY=/nowhere/s.md orch compare "${sides[@]}" --format github
# the formats of tables are still there
ok orch compare "${sides[@]}" --format markdown
has '| metric |'
fails 2 orch compare "${sides[@]}" --format nosuch
fails 2 orch compare "${sides[@]}" --format junit --json
