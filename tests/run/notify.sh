#!/usr/bin/env bash
# 'orch run --notify' passes the result of the run to a command of the user, whose failure changes nothing.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
sleeps nap '0.01, 0.02'
ok orch run nap.recipe --notify 'cat >said; echo "$ORCH_RECIPE $ORCH_STATE $ORCH_STATUS" >env; echo talk'
has_not talk
says talk
out=$(<said)
same "$(json recipe) $(json state) $(json status) $(json runs.ok) $(json error)" 'nap ok 0 2 null'
same "$(<env)" 'nap ok 0'
ok orch run nap.recipe --force --notify 'exit 3'
says 'the command of --notify failed with exit status 3'
ORCH_NOTIFY='echo from-env >said' ok orch run nap.recipe
same "$(<said)" from-env
cat >bad.recipe <<'R'
format: 1
recipe: bad
experiments:
  one: { plugin: sleep, with: { seconds: 5 }, timeout: 0.2 }
R
fails 1 orch run bad.recipe --notify 'cat >said'
out=$(<said)
same "$(json state) $(json status)" 'failed 1'
rm said
ok orch run nap.recipe --dry-run --notify 'echo x >said'
[ ! -e said ] || _fail "a dry run notified"
