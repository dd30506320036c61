# The key 'jobs' of a recipe or profile sets the number of parallel trials unless -j is given. An exclusive trial runs
# alone on the machine.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
unset OMP_NUM_THREADS # nproc reads it
[ "$(nproc)" -ge 2 ] || skip 'it needs two CPUs'
# each trial writes when it began and ended, and its threads
printf 'plugin: stamp\nversion: 1.0.0\nabout: notes its time\nlicence: MIT\ncommand: [sh, stamp.sh, "${log}", "${n}"]\nmetrics_from: lines\nparameters:\n  log: {type: string, default: x, help: where}\n  n: {type: int, default: 1, help: which}\nmetrics:\n  x: {help: nothing}\n' >stamp.plugin
cat >stamp.sh <<'S'
echo "$2 begin $ORCH_THREADS" >>"$1"
# where two are to run at once, each waits for the other; an exclusive one gives others the time to be wrong
case $2$TWO in [34]yes) while [ "$(grep -c '^[34] begin' "$1")" -lt 2 ]; do sleep 0.05; done ;; [12]*) sleep 0.3 ;; esac
echo "$2 end" >>"$1"; echo 'x 1'
S
recipe() { # TOP PROFILE
    cat >r.recipe <<R
format: 1
recipe: r
$1
profile: small
profiles:
  small: { $2 }
with: { log: $PWD/log }
experiments:
  alone: { plugin: ./stamp.plugin, resources: { exclusive: true }, sweep: { n: [1, 2] } }
  beside: { plugin: ./stamp.plugin, sweep: { n: [3, 4] } }
R
}
# the most trials that ran at once, of those whose number matches
most() { awk -v which="$1" '$1 ~ which { n += $2 == "begin" ? 1 : -1; if (n > m) m = n } END { print m + 0 }' log; }
beside() { awk '$1 ~ /[12]/ && $2 == "begin" && n { bad = 1 } { n += $2 == "begin" ? 1 : -1 } $1 ~ /[34]/ && $2 == "begin" && alone { bad = 1 }
    $1 ~ /[12]/ { alone += $2 == "begin" ? 1 : -1 } END { print bad + 0 }' log; }
run() {
    rm -f log
    ok orch run r.recipe --force "$@"
    says '4 ok'
}

export TWO=no
recipe '' ''
run
same "$(most .)" 1 'one at a time without jobs'
recipe 'jobs: 2' ''
TWO=yes run
same "$(most '[34]')" 2 'two of the recipe'
same "$(beside)" 0 'an exclusive trial beside another'
threads=$(nproc)
grep -q "^1 begin $threads" log || _fail "an exclusive trial has not all $threads threads: $(cat log)"
grep -q "^3 begin $((threads / 2))" log || _fail "a trial beside another has not its share: $(cat log)"
recipe 'jobs: 2' 'jobs: 1'
run
same "$(most .)" 1 'the profile wins over the recipe'
TWO=yes run -j 2
same "$(most '[34]')" 2 'the command line wins over both'
same "$(beside)" 0 'an exclusive trial beside another'
recipe 'jobs: 1000' ''
ok orch plan r.recipe --force --json
[ "$(json forecast.slots)" -le "$threads" ] || _fail "more trials than threads"
for wrong in 0 -1 2.5 x 5000 '[1]'; do
    recipe "jobs: $wrong" ''
    fails 2 orch check r.recipe
    says "r.recipe:3"
    says "'jobs'"
done
recipe '' 'jobs: none'
fails 2 orch check r.recipe
says "'jobs'"
sed 's/exclusive: true/exclusive: perhaps/; s/jobs: none//' r.recipe >w.recipe
fails 2 orch check w.recipe
says exclusive
