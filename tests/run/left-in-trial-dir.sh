# What a trial leaves in {trial_dir} is kept until 'orch gc', however the trial ends: 'orch show' lists it and prints it.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
left=.orch/results.db.d/left
cat >t.py <<'P'
import os, signal, sys, time
how, folder = sys.argv[1], sys.argv[2]
assert os.path.samefile(folder, os.environ["ORCH_TRIAL_DIR"]) and os.listdir(folder) == []
os.makedirs(folder + "/a/b")
open(folder + "/a/b/model.pt", "w").write("weights " + how)
open(folder + "/stdout", "w").write("mine")
os.symlink("model.pt", folder + "/a/b/latest")
os.chmod(folder + "/a/b", 0o555)
print("v", 1, flush=True)
if how == "fail":
    sys.exit("bad")
if how == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
if how == "slow":
    time.sleep(600)
P
cat >p.plugin <<'P'
plugin: p
version: 1.0.0
command: [python3, t.py, "${how}", "${trial_dir}"]
metrics_from: lines
parameters: { how: { type: string, default: good } }
metrics: { v: { better: max } }
artifacts: { log: { path: "${trial_dir}/stdout" } }
P
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  ends: { plugin: ./p.plugin, sweep: { how: [good, fail, kill, slow] }, timeout: 1s, retries: 0 }
R
git add -A
git commit -qm x
fails 1 orch run r.recipe
says "8 files (48 B) that 4 trials wrote: kept until 'orch gc'"
says 'lists them'
for how in good:ok fail:failed kill:crashed slow:timeout; do
    ok orch ls --where "how = ${how%:*}" --json
    key=$(json runs.0.key)
    same "$(json runs.0.state)" "${how#*:}"
    ok orch show "$key"
    has 'files that it left: 2, '
    has 'link to model.pt'
    ok orch show "$key" --file a/b/model.pt
    same "$out" "weights ${how%:*}"
    ok orch show "$key" --file a/b/latest
    same "$out" "weights ${how%:*}"
    # what became an artifact is not kept twice
    ok orch show "$key" --artifact log
    same "$out" mine
done
ok orch show @last --json
same "$(json left.count) $(json left.files.1.path) $(json left.files.1.bytes)" '2 a/b/model.pt 12'
fails 2 orch show @last --file a/b/none.pt
says "wrote no file 'a/b/none.pt'"
fails 2 orch show @last --file a
says 'is not a regular file'
# it counts as the store's, and goes with gc
ok orch db info
has "left       8 files by 4 runs, 48 B ('orch gc' removes them)"
ok orch gc --dry-run --json
same "$(json removed) $(json bytes)" '4 48'
ok orch gc
same "$(ls $left)" ''
ok orch show @last
has_not 'files that it left'
# orch try, in the folder and apart; a name that both folders have
for how in '' --frozen; do
    # shellcheck disable=SC2086
    ok orch try --force $how -x n=1,2 -- sh -c 'echo "$1" >"$2/out.txt"; [ ! -e apart ] || echo twin >out.txt; echo v 1' sh '{n}' '{trial_dir}'
    says "2 files (4 B) that 2 trials wrote"
    ok orch show @last --file out.txt
    same "$out" 2
done
: >apart
git add apart
git commit -qm apart
ok orch try --frozen -- sh -c 'echo own >"$1/out.txt"; [ ! -e apart ] || echo twin >out.txt; echo v 1' sh '{trial_dir}'
says '2 files'
ok orch show @last --file out.txt
same "$out" own
ok orch show @last --file out.txt.2
same "$out" twin
# a program that only makes folders leaves nothing
ok orch gc
ok orch try -- sh -c 'mkdir "$1/d"; echo v 1' sh '{trial_dir}'
says_not ' left'
same "$(ls $left)" ''
# with --keep-trials the files stay in the trial's folder, and are found there
ok orch try --keep-trials -- sh -c 'echo kept >"$1/f"; echo v 2' sh '{trial_dir}'
ok orch show @last --file f
same "$out" kept
# a runner that is killed before it could record the trial: the next command keeps the files
cat >wait.py <<'P'
import os, sys, time
open(sys.argv[1] + "/model.pt", "w").write("night")
print("v", 1, flush=True)
open("ready", "w").close()
time.sleep(600)
P
orch try -- python3 wait.py '{trial_dir}' >/dev/null 2>&1 &
await -e ready
kill -KILL $!
for _ in $(seq 200); do
    ok orch ls --json
    orch try -q -- sh -c 'echo v 3' >/dev/null 2>&1
    [ -z "$(ls .orch/results.db.d/trials)" ] && break
    sleep 0.1
done
ok orch ls --where 'experiment = wait' --json
ok orch show "$(json runs.0.key)" --file model.pt
same "$out" night
# one that is killed between the record and the files: the folder of a recorded trial is settled, not just removed
ok orch try --keep-trials -- sh -c 'echo late >"$1/f"; echo v 4' sh '{trial_dir}'
key=$(basename "$(ls -td .orch/results.db.d/kept/* | head -1)")
mv ".orch/results.db.d/kept/$key" .orch/results.db.d/trials/
sed -i 's/"keep":true/"keep":false/' ".orch/results.db.d/trials/$key/record.json"
ok orch try -- sh -c 'echo v 5'
ok orch show "$key" --file f
same "$out" late
same "$(ls .orch/results.db.d/trials)" ''
