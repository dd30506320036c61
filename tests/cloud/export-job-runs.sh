# The command of a job's document runs exactly its trial in another copy of the repository, and its bundle makes the
# trial done in this plan: as a script, and word by word. The trial receives the runs that it refers to as a bundle, and
# a cancelled job leaves the record of the cancelled trial.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >first.plugin <<'Y'
command: [sh, -c, 'cp "${file}" w.txt 2>/dev/null || echo 7 >w.txt; echo loss 1']
metrics_from: lines
metrics: { loss: min }
parameters: { file: { type: path, default: none } }
artifacts: { w: w.txt }
Y
cat >j.recipe <<'R'
format: 1
recipe: j
experiments:
  first: { plugin: ./first.plugin }
  second: { plugin: ./first.plugin, with: { file: "${first.w}" } }
  nap: { plugin: sleep, sweep: { seconds: [0.01, 0.02] }, repeat: 2 }
  long: { plugin: sleep, with: { seconds: 60 } }
R
git add -A
git commit -qm x
elsewhere() {
    rm -rf ../e
    git clone -q . ../e
    cd ../e
}
# a script
ok orch export job j.recipe nap --trial 3 --to slurm -o ../job.sh
elsewhere
ok sh ../job.sh
cd ../w
ok orch db merge ../e/trial.orch
says '1 new run'
ok orch plan j.recipe nap
has 'nap seconds=0.02 #1  done'
same "$(grep -c ' done ' <<<"$out")" 1 'done trials'
# a stored run is found in its recipe, and limits its job
ok orch export job @last --to slurm
has 'orch run j.recipe nap --part 3/4'
says '10 min 0 s'
says 'took it'
ok orch run j.recipe nap -s nap.seconds=0.015 -q
ok orch export job @last --to slurm
has '-s nap.seconds=0.015 --part 2/2'
ok orch try -q -- true
fails 2 orch export job @last --to slurm
says "not made by 'orch run'"
sed -i 's/0.02\]/0.03]/' j.recipe
fails 2 orch export job @{5} --to slurm
git checkout -q j.recipe
# words, of which the platform passes each by itself
ok orch export job j.recipe nap --trial 1 --to sagemaker --image i --role arn:aws:iam::123456789012:role/t --results s3://b/p --json
python3 -c 'import json, sys; print("\0".join(json.loads(sys.argv[1])["document"]["AlgorithmSpecification"]["ContainerArguments"]).replace("/opt/ml/model", sys.argv[2]), end="")' "$out" "$SCRATCH" >../words
elsewhere
ok xargs -0 -a ../words env
cd ../w
ok orch db merge ../trial.orch
ok orch plan j.recipe nap
has 'nap seconds=0.01 #1  done'
# what it refers to: without the bundle it runs again, with it it does not
ok orch export job j.recipe second --to slurm
says 'uses results of other runs'
ok orch run j.recipe first -q
ok orch export --bundle ../inputs.orch @last
ok orch export job j.recipe second --to slurm --inputs ../inputs.orch -o ../job.sh
says_not 'uses results of other runs'
elsewhere
ok sh ../job.sh
says '1 ok'
ok orch ls --json
same "$(grep -o '"key"' <<<"$out" | wc -l)" 2 runs
cd ../w
# SIGTERM, which platforms send before they kill: the trial's record is kept
ok orch export job j.recipe long --to slurm -o ../job.sh
elsewhere
sh ../job.sh >../log 2>&1 &
job=$!
for _ in $(seq 3000); do
    [ -n "$(ls .orch/results.db.d/trials/*/journal 2>/dev/null)" ] && break
    sleep 0.02
done
kill -TERM $job
wait $job
status=$?
[ $status != 0 ] || _fail 'a stopped job ended well'
[ -s trial.orch ] || _fail "no bundle: $(cat ../log)"
cd ../w
ok orch db merge ../e/trial.orch
says '1 new run'
ok orch show @last --json
case $(json state) in cancelled | interrupted | preempted) ;; *) _fail "state $(json state)" ;; esac
