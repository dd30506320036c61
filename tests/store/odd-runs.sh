#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A quick subset of 0096: a merged run without wall time or without texts, and sizes whose sum overflows.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
printf '%s\n' 'plugin: job' 'version: 1.0.0' 'command: [sh, -c, echo hello >out.txt]' 'artifacts: { out: out.txt }' >job.plugin
printf '%s\n' 'format: 1' 'recipe: nap' 'experiments: { one: { plugin: ./job.plugin } }' >nap.recipe
git add -A
git commit -qm one
git init -q --bare ../hub.git
git remote add origin ../hub.git
ok orch run nap.recipe -q
cp -r .orch ../odd
python3 "$SOURCE/tests/store/forge_rows.py" ../odd/results.db no_wall no_texts no_fingerprint artifacts artifact_size >/dev/null || _fail 'no forged store'
ok orch db merge ../odd/results.db
ok orch ls -n 0 --json
same "$(json runs.3.key | wc -c)" 37
ok orch show 01900000-0000-7000-8000-000000000002 --json
same "$(json wall_s)" null
ok orch show 01900000-0000-7000-8000-000000000003 --json
ok orch show 01900000-0000-7000-8000-000000000003
ok orch best wall_s
ok orch compare 01900000-0000-7000-8000-000000000006 @last --across --json
ok orch plan nap.recipe
ok orch db info
# a size that a run made up: the artifact does not count as being here
ok orch show 01900000-0000-7000-8000-000000000005 --json
same "$(json artifacts.0.bytes)" 10000000000
same "$(json artifacts.0.here)" false
ok orch show 01900000-0000-7000-8000-000000000005
has 'the stored file has'
fails 7 orch db check
has '10000000000 bytes long in the run'
ok orch status --json
