# 'orch collect' is killed at each of its system calls in turn: the store stays valid, no trial is lost or recorded
# twice, the next collect records the rest, and no folder is left.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm.sh"
. "$(dirname "$0")/../cli/kill_calls.sh"
STEP=${ORCH_KILL_STEP:-29}
cat >r.recipe <<'R'
format: 1
recipe: r
slurm: { partition: p }
experiments:
  n: { plugin: 'null', sweep: { metrics: [3, 4, 5] } }
R
ok orch run r.recipe n --executor slurm
play 101
cp -a .orch "$SCRATCH/ended" # what every try begins with
runs() { orch ls -n 0 --format tsv 2>/dev/null | cut -f1,2 | sort; }
ok orch collect --without-slurm
expected=$(runs)
same "$(grep -c ok <<<"$expected")" 3 'runs that ended ok'
tries=0
for ((n = 1; ; n += STEP)); do
    rm -rf .orch
    cp -a "$SCRATCH/ended" .orch
    killed_at "$n" orch orch collect --without-slurm >"$SCRATCH/out" 2>"$SCRATCH/err"
    status=$?
    [ -e "$SCRATCH/hit" ] || break
    same "$status" 137 "status when killed at call $n, $(cat "$SCRATCH/hit")"
    ok orch db check
    ok orch collect --without-slurm
    same "$(runs)" "$expected" "runs after a kill at call $n, $(cat "$SCRATCH/hit")"
    ok orch db check
    ok orch run r.recipe n --executor slurm
    says 'nothing to submit' # removes the folders of recorded trials
    [ -z "$(ls .orch/results.db.d/trials)" ] || _fail "call $n, $(cat "$SCRATCH/hit"): a trial's folder is left"
    # the submission's is removed with its last trial, or by 'orch gc' once it is old
    find "$(slurm_folder)" -mindepth 1 -maxdepth 1 -exec touch -d '10 days ago' {} +
    ok orch gc
    [ -z "$(ls "$(slurm_folder)" | grep -)" ] || _fail "call $n, $(cat "$SCRATCH/hit"): the submission's folder is left"
    tries=$((tries + 1))
done
same "$status" 0 'the collect that was not killed'
[ $tries -ge 10 ] || _fail "only $tries kills"
echo "$tries kills"
