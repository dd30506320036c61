#!/usr/bin/env bash
# 'orch compare --run' when a side cannot be run: the message names the side and the reason, and nothing is recorded.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >p.plugin <<'Y'
plugin: p
command: [sh, p.sh]
metrics:
  loss: { better: min }
Y
echo 'echo loss: 1' >p.sh
printf 'format: 1\nrecipe: c\nexperiments:\n  e: { plugin: ./p.plugin }\n  only: { plugin: ./p.plugin }\n' >c.recipe
git add -A
git commit -qm one
printf 'format: 1\nrecipe: c\nexperiments:\n  e: { plugin: ./p.plugin }\n' >c.recipe
echo 'echo loss: 2' >p.sh
git commit -qam two
compare() { orch compare "$@" --run c.recipe --repeat 1; }

# outside of a repository, of the repository, of its commits
mkdir "$SCRATCH/bare"
cp c.recipe p.plugin p.sh "$SCRATCH/bare"
fails 2 orch -C "$SCRATCH/bare" compare a b --run c.recipe
says "is not in a git repository"
says 'hint: '
fails 2 orch compare HEAD~1 HEAD --run "$SCRATCH/bare/c.recipe"
says 'is outside the repository'
says 'give a recipe that both commits have'
fails 2 compare HEAD~7 HEAD
says 'HEAD~7'
fails 2 orch compare HEAD . --run none.recipe
says "neither 'HEAD' nor the work tree has 'none.recipe'"

# a recipe that is wrong on one side, trials that no machine runs, no trial in common
echo 'experimnts: {}' >c.recipe
fails 2 compare HEAD .
says 'experimnts'
git checkout -q c.recipe
printf 'format: 1\nrecipe: c\nexperiments:\n  e: { plugin: ./p.plugin, gpus: 4 }\n' >c.recipe
fails 2 compare HEAD .
git checkout -q c.recipe
printf 'format: 1\nrecipe: c\nexperiments:\n  other: { plugin: ./p.plugin }\n' >c.recipe
fails 2 compare HEAD .
says 'A and B have no trial in common'
says 'orch plan'
git checkout -q c.recipe
ok orch ls --json -n 0
same "$(json runs.#)" 0 'runs after refusals'

# what one side alone has is left out, and said; the work tree is a side too
ok compare HEAD~1 HEAD
says '1 trial of A alone is left out'
says '1 trial of each side, in turns'
ok orch ls --json -n 0
same "$(json runs.#)" 2
echo 'echo loss: 3' >p.sh
ok compare HEAD . --json
ok orch ls --json -n 0
same "$(json runs.#)" 4

# a side that fails ends the comparison, with its reason
echo 'echo no; exit 3' >p.sh
fails 1 compare HEAD .
says 'exit status 3'
says 'failed, so nothing was compared'
says 'orch log @last'

# an interrupt: what ended is kept, the rest is not begun
echo 'echo loss: 1; touch "'"$SCRATCH"'/begun"; sleep 0.5' >p.sh
orch compare HEAD . --run c.recipe --repeat 3 >"$SCRATCH/out" 2>"$SCRATCH/err" &
pid=$!
await -e "$SCRATCH/begun"
kill -INT $pid
wait $pid
status=$?
err=$(<"$SCRATCH/err")
[ $status = 130 ] || _fail "status $status after an interrupt"
says 'stopped'
ok orch db check
