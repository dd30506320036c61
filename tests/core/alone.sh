#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Core without features (core_alone.c) runs, reports and lists the first recipe, and knows nothing that a feature adds.
. "$(dirname "$0")/../cli/lib.sh"
cp "$SOURCE/recipes/first.recipe" .
git add -A && git commit -qm first
ok orch-core-alone help
has 'Run:'
has_not 'Share:'
has_not 'collect '
fails 2 orch-core-alone
says '  orch run first.recipe  run its missing trials'
ok orch-core-alone plan first.recipe
says '6 trials: 6 missing'
ok orch-core-alone run first.recipe
has 'slept time (s)'
ok orch-core-alone run first.recipe
says 'nothing to run: 6 of 6 trials are done'
ok orch-core-alone report first.recipe
has '0.4'
ok orch-core-alone ls --json
same "$(grep -c '"state": "ok"' <<<"$out")" 6 'runs in the list'
ok orch-core-alone show @last
has 'state'
has_not 'signed'
ok orch-core-alone db check
has 'all well: 6 runs'
fails 2 orch-core-alone
says '  orch ls '
says_not 'orch best'
says_not 'orch status'
# what features add is unknown, and said to be
fails 2 orch-core-alone run first.recipe --share
says "unknown option '--share'"
fails 2 orch-core-alone run first.recipe --executor slurm
says "there is no executor 'slurm'"
fails 2 orch-core-alone pull
says "unknown command 'pull'"
printf 'format: 1\nrecipe: o\nexperiments: { nap: { plugin: sleep } }\nreport:\n  - { coverage: {} }\n' >other.recipe
fails 2 orch-core-alone check other.recipe
says "unknown key 'coverage'"
# the whole program goes on with the same store
ok orch run first.recipe
says 'nothing to run: 6 of 6 trials are done'
