#!/usr/bin/env bash
# Options that every command has may come before the command, as git's do.
# test: quick
. "$ORCH_SOURCE_DIR/tests/cli/lib.sh"
ok orch try -q -- true
ok orch --json ls
same "$(json runs.0.state)" ok
ok orch --format csv ls
has 'run,state'
ok orch --format=csv -q ls
has 'run,state'
ok orch -q --no-pager --color never --db .orch/results.db ls --json
same "$(json runs.0.state)" ok
ok orch -C . --json db info
json runs >/dev/null
ok orch --color never predictor --help
has 'predictor'
ok orch --who ada try -q --force -- true
ok orch ls --json
same "$(json runs.0.who)" ada
# an error is JSON, too; what is no option of every command is unknown there
fails 2 orch --json nonsense
same "$(json error.code)" usage
fails 2 orch --limit 3 ls
says "unknown command '--limit'"
fails 2 orch --json
says "unknown command '--json'"
