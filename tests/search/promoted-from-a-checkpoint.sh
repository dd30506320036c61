# A trial that was stopped and goes on begins at its checkpoint. Its values are counted on from those that it had, when it is
# judged and when others are compared with it, and what it costs is not taken for the time of a whole trial.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/points.sh"
# Trials are judged at values 1, 2 and 4. The second one goes on after the fourth has come, is good at its second value, and
# is stopped at its fourth: the third of the run that goes on. The fifth is compared with it there.
cat >train.py <<'P'
import os, pathlib, subprocess, sys, time
from points import home, log, start
state = pathlib.Path(sys.argv[2]) / 'epoch'
n, _ = start(sys.argv[1])
first = int(state.read_text()) if state.exists() else 0
log(f'{n}:{first}')
curve = {1: [5] * 5, 2: [6, 1, 1, 7, 7], 3: [9] * 5, 4: [10] * 5, 5: [4, 0.5, 0.5, 6, 6]}[n]
if n == 2 and first and os.environ.get('HUB'):
    time.sleep(5) # the results from before are sent every 4 s
    refs = subprocess.run(['git', '-C', os.environ['HUB'], 'for-each-ref', '--format=%(refname)'], capture_output=True, text=True)
    (home / 'refs').write_text(refs.stdout)
for epoch in range(first + 1, 6):
    state.write_text(str(epoch))
    print(f'epoch {epoch} loss {curve[epoch - 1]}', flush=True)
    time.sleep(0.1)
    if (n, epoch) in ((2, 1), (2, 4), (3, 1), (4, 1), (5, 4)):
        time.sleep(15)
        sys.exit('nobody stopped it')
P
points_plugin epoch '${lr}' '${checkpoint_dir}'
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  e:
    plugin: ./t.plugin
    search: { lr: "uniform(0, 1)" }
    objective: { metric: min loss, trials: 5, sampler: sobol, stop: "asha(min=1, factor=2)" }
R
ok orch run t.recipe -j 1
says 'goes on from its checkpoint: 6 after 1 value; 1 of 4 trials are better, the best 2 go on'
says '7 after 4 values; 1 of 2 trials are better, the best 1 go on'
says '6 after 4 values; 1 of 3 trials are better, the best 1 go on'
says '1 ok, 4 pruned, 1 promoted'
same "$(cat "$HOME/log")" '1:0 2:0 3:0 4:0 2:1 5:0 '
# a new process reads the same curves from the store
ok orch run t.recipe -j 1
says 'nothing to run: 1 of 5 trials are done'
same "$(cat "$HOME/log")" '1:0 2:0 3:0 4:0 2:1 5:0 '
# the run that went on has what came after the checkpoint
python3 - <<'P' || _fail 'points of the runs'
import glob, sqlite3
db = sqlite3.connect(glob.glob('.orch/*.db')[0])
rows = db.execute("select min(step), max(step), attempt from run r join metric m on m.run = r.id join metric_name n on n.id = m.name_id"
                  " where n.name = 'loss' group by r.id order by r.id").fetchall()
assert rows == [(1, 5, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1), (2, 4, 2), (1, 4, 1)], rows
P

# in a shared run a trial that goes on is claimed anew, also once the result from before has been sent
git init -q --bare "$SCRATCH/hub.git"
git remote add origin "$SCRATCH/hub.git"
git add points.py train.py t.plugin t.recipe
git commit -qm search
git push -q origin HEAD
rm -rf .orch "$HOME"/*
ORCH_CLAIM_S=60 HUB="$SCRATCH/hub.git" ok orch run t.recipe -j 1 --share
says '1 ok, 4 pruned, 1 promoted'
says_not warning
grep -q claim "$HOME/refs" || _fail "the trial that goes on is not claimed: $(cat "$HOME/refs")"
grep -q claim <(git -C "$SCRATCH/hub.git" for-each-ref) && _fail 'a claim is left'
true
