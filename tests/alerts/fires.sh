#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Alerts on the metrics of running trials: each fires once, runs the command of --notify, marks the run by a tag and a note, and
# ends the trial when it says so. Conditions that are none are refused with their column.
# test: quick timeout=60
. "$(dirname "$0")/../cli/lib.sh"
cat >train.sh <<'S'
for loss in 2.0 1.0 7.0 8.0; do
    echo "loss=$loss"
done
S
cat >nan.sh <<'S'
echo 'epoch 1 val_loss=0.5'
echo 'epoch 2 val_loss=nan'
while :; do sleep 0.05; done
S
tell="cat >>$PWD/told"
printf '/told\n' >.gitignore
ok env ORCH_NOTIFY="$tell" orch try --alert 'val_loss is nan or loss > 3 * first' --alert 'loss > 100' -- sh train.sh
says 'alert of trial'
says 'loss > 3 * first (loss 7 at step 2)'
until_true grep -qs '"alert":"val_loss is nan or loss > 3 \* first (loss 7 at step 2)"' told
[ "$(grep -c . told)" = 1 ] || _fail "not one alert: $(<told)"
grep -q '"state":"alert"' told || _fail "$(<told)"
ok orch ls --tag alert --json
key=$(json runs.0.key)
ok orch show "$key"
has 'tags           alert'
has 'alert: val_loss is nan or loss > 3 * first (loss 7 at step 2)'
has_not 'loss > 100'
ok orch ls --where 'tag = alert' --json
same "$(json runs.0.state)" ok
# one that ends the trial, as a result that is reused
rm -f told
ok env ORCH_NOTIFY="$tell" orch try --alert-stop 'val_loss is nan' -- sh nan.sh
ok orch ls --where 'state = diverged' --json
ok orch show "$(json runs.0.key)"
has 'alert: val_loss is nan (val_loss nan at step 2)'
until_true grep -qs '"alert":"val_loss is nan' told
# while it runs
cat >slow.sh <<'S'
echo loss=5
while [ ! -e go ]; do sleep 0.05; done
S
printf '/told\n/go\n/out\n' >.gitignore
orch try --no-progress --alert 'loss >= 5' -- sh slow.sh >out 2>&1 &
pid=$!
until_true grep -qs 'alert of trial' out
ok orch ls --json
key=$(json runs.0.key)
ok orch show "$key"
has 'note           alert: loss >= 5 (loss 5 at step 0)'
: >go
wait $pid || _fail "$(<out)"
# of a recipe, which a written recipe keeps; --notify instead of the variable
ok orch try --alert 'loss >= 7' --alert-stop 'loss < 0' --write tried.recipe -n -- sh train.sh
grep -q '^alert: \[{"when": "loss >= 7", "stop": false}, {"when": "loss < 0", "stop": true}\]$' tried.recipe || _fail "$(<tried.recipe)"
cat >own.recipe <<'R'
format: 1
recipe: own
alert:
  - loss > 2 * min loss
  - { when: not loss > first, stop: false }
experiments:
  e: { program: sh train.sh }
R
rm -f told
ok orch run own.recipe --force --notify "$tell"
until_true grep -qs '"state":"ok"' told
until_true grep -qs '"alert":"loss > 2 \* min loss (loss 7 at step 2)"' told
until_true grep -qs '"alert":"not loss > first (loss 2 at step 0)"' told
ok orch run own.recipe --force --alert 'loss = 8' --notify 'true'
says 'loss = 8 (loss 8 at step 3)'
says 'loss > 2 * min loss (loss 7 at step 2)'
# no condition
fails 2 orch try --alert 'loss >' -- sh train.sh
says "character 7 of condition 'loss >'"
fails 2 orch try --alert 'loss > 3 * ' -- sh train.sh
says "'3 *' is no formula"
fails 2 orch try --alert 'loss is big' -- sh train.sh
says "expected 'nan' or 'inf' after 'loss is'"
fails 2 orch try --alert 'loss ~ x' -- sh train.sh
says 'an alert is about numbers'
fails 2 orch run own.recipe --alert-stop '(loss > 1'
says "expected ')'"
sed -i 's/stop: false/stp: false/' own.recipe
fails 2 orch run own.recipe
says "own.recipe:5"
says "stp"
sed -i 's/not loss > first, stp: false/loss grows/' own.recipe
fails 2 orch run own.recipe
says "expected an operator after 'loss'"
