#!/usr/bin/env bash
# A program that orch did not start is recorded through a pipe, or by two lines of Python.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"

events() {
    echo '{"event":"metric","name":"train/loss","step":1,"value":0.5}'
    echo 'nonsense'
    echo '{"event":"metrics","points":[["a b",1,null,1],["acc",1,null,"nan"]]}'
    echo weights >w.bin
    echo '{"event":"artifact","name":"w","path":"w.bin"}'
    echo '{"event":"done","status":"ok"}'
}
events | orch record -e loop -s lr=0.1 -s name=adam -s 'sizes=[1,2]' 2>"$SCRATCH/err" || _fail "record: $(<"$SCRATCH/err")"
ok orch show @last --json
same "$(json state)" ok
same "$(json experiment)" loop
same "$(json params.lr) $(json params.name) $(json params.sizes.1)" '0.1 adam 2'
same "$(json facts.bad_events)" 2
has '"train/loss"'
ok orch show @last --artifact w
rm -f w.bin
ok orch log @last
has 'of its events were left out; the first: not valid JSON'
ok orch ls --where 'param.lr = 0.1' --json
same "$(json runs.0.state)" ok

# the input ends without 'done': crashed, and what came is kept
set +e
echo '{"event":"metric","name":"loss","step":1,"value":0.5}' | orch record 2>"$SCRATCH/err"
same "${PIPESTATUS[1]}" 1 "exit status"
set -e
grep -q "crashed: its events ended without 'done'.*1 points" "$SCRATCH/err" || _fail "$(<"$SCRATCH/err")"
set +e

# refusals leave nothing behind
for bad in '["x"]' '{"params":{"a b":1}}' '{"tags":["two words"]}' '{"experiment":"A B"}' '{"pid":99999999}' '{'; do
    echo "$bad" | orch record --begin >"$SCRATCH/out" 2>"$SCRATCH/err" && _fail "taken: $bad"
    [ ! -s "$SCRATCH/out" ] || _fail "an answer to $bad"
    [ -s "$SCRATCH/err" ] || _fail "no message for $bad"
done
ok orch ls --json
same "$(json runs.2.state)" ""

# a recorded run never stands in for a trial, and 'orch record' of a terminal says what it wants
cat >train.py <<'P'
import orch
with orch.start(lr=0.5) as run:
    run.log(loss=run.lr)
P
export PYTHONPATH=$SOURCE/share/python PYTHONDONTWRITEBYTECODE=1
ok python3 train.py
says 'recorded by orch as run'
ok orch show @last --json
same "$(json experiment) $(json state) $(json argv.1)" 'train ok train.py'
ok orch try -s lr=0.5 -- python3 train.py '{lr}'
ok orch ls --json
same "$(json runs.0.experiment) $(json runs.0.state)" 'train ok'
ok orch show @last --json
same "$(json plugin)" train
PATH=/usr/bin:/bin fails 1 "$(command -v python3)" train.py
says "no program 'orch' on the PATH"
says 'ORCH_RECORD=off'
