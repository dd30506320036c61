#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs from elsewhere with numbers and texts that no real run has: no command crashes, hangs or fails for the whole
# store. Every command that the program lists is run.
# test: slow timeout=2700 cost=600
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/../cli/hostile_recipe.sh"
printf 'lr,ms\n1,2\n2,3\n3,4\n' >data.csv
git add -A
git commit -qm one
ok orch run r.recipe -q
for copy in sound hostile merged edited; do cp -r .orch "../$copy"; done
rm -r .orch
forge() { python3 "$SOURCE/tests/store/forge_rows.py" "$@" >/dev/null || _fail "no forged store: $*"; }
forge ../hostile/results.db
forge --loose ../edited/results.db
fails 7 orch --db ../merged/results.db db merge ../hostile/results.db
ok orch --db ../merged/results.db db info --json
[ "$(json runs)" -gt 50 ] || _fail "only $(json runs) runs were taken"
try() { python3 "$SOURCE/tests/cli/all_commands.py" . ../sound "$@" >"$SCRATCH/tried" 2>&1 || _fail "$(tail -40 "$SCRATCH/tried")"; }
try ../merged
try ../edited --brief --edited
