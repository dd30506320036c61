#!/usr/bin/env bash
# When orch-host ends before the program that it records, the run is lost, and its reason contains the error output of
# orch-host or the signal that killed it.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
d=.orch/results.db.d/trials
has_loss() { grep -qs '"loss"' $d/*/journal; }
record() { # what happens to orch-host, whose number is $1, while it records
    mkfifo "$SCRATCH/events"
    orch record -e loop <"$SCRATCH/events" >"$SCRATCH/said" 2>&1 &
    pid=$!
    exec 9>"$SCRATCH/events"
    echo '{"event":"metric","name":"loss","step":1,"value":0.5}' >&9
    until_true has_loss
    host=$(python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readline())["host"]["pid"])' $d/*/journal)
    "$@" "$host" || _fail "$*"
    exec 9>&-
    wait $pid
    status=$?
    rm "$SCRATCH/events"
    same "$status" 1 'exit status'
    ok orch show @last --json
    same "$(json state)" lost
}
record kill -9
same "$(json reason)" 'orch-host, which recorded it, ended early: killed, or the machine went down'
full_disk() { # what orch-host writes when its journal's end cannot be written
    printf 'warning\norch-host: cannot write the journal: No space left on device\n  hint: free some\n' >"$(echo $d/*/host.stderr)"
    kill -9 "$1"
}
record full_disk
want='orch-host, which recorded it, ended early: cannot write the journal: No space left on device'
same "$(json reason)" "$want"
grep -qF "$want" "$SCRATCH/said" || _fail "orch record says: $(<"$SCRATCH/said")"
