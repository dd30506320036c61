#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test: quick
# 'orch report --check FILE' fails when a number of a kept report is no longer that of the store.
. "$(dirname "$0")/../cli/lib.sh"
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  a: { program: "sh -c 'echo loss=0.${x}'", sweep: { x: [1, 2] } }
report:
  - { question: "1", title: Loss, table: { rows: x, value: last loss } }
  - { title: Best, best: { value: last loss } }
R
git add -A
git commit -qm r
ok orch run r.recipe -q
ok orch report r.recipe --json
printf '%s\n' "$out" >report.json
ok orch report r.recipe --check report.json
says 'agree with the store'
ok orch report r.recipe --check report.json --json
same 0 "$(json differs)"
sed 's/0\.2\b/0.25/' report.json >other.json
fails 7 orch report r.recipe --check other.json
has 'Loss'
has '0.25'
fails 7 orch report r.recipe --check other.json --json
[ "$(json differs)" -ge 1 ] && [ "$(json differences.0.was)" = 0.25 ] || _fail "$out"
# a run more changes what the report says
ok orch run r.recipe -x a.x=1,2,3 -q
fails 7 orch report r.recipe -x a.x=1,2,3 --check report.json
fails 3 orch report r.recipe --check none.json
echo '{"sections": 1}' >bad.json
fails 2 orch report r.recipe --check bad.json
says 'is not a report'
echo 'text' >bad.json
fails 2 orch report r.recipe --check bad.json
