# A sweep over a parameter that changes no result: one trial, and that is said; under `reuse: never`
# every value runs, each with checkpoints of its own.
. "$(dirname "$0")/lib.sh"
mkdir exp
cat >exp/quiet.plugin <<'Y'
plugin: quiet
command: [sh, quiet.sh, "${workers}", "${checkpoint_dir}"]
parameters:
  workers: { type: int, default: 1, neutral: true }
metrics:
  seen: none
Y
cat >exp/quiet.sh <<'S'
echo "$1" >>"$2/mine"
sleep 0.5
echo "seen $(wc -l <"$2/mine")"
S
cat >quiet.recipe <<'R'
format: 1
recipe: quiet
experiments:
  quiet:
    plugin: exp/quiet.plugin
    sweep: { workers: [1, 2, 3] }
R
for verb in check plan run; do
    ok orch $verb quiet.recipe
    says "orch: warning: parameter 'workers' of plugin 'quiet' does not affect results, so its 3 values are one trial"
    says 'quiet.recipe:6:14'; says "hint: to run every value, write 'reuse: never' in experiment 'quiet'"
done
says '1 ok, 2 done before'
echo '    reuse: never' >>quiet.recipe
ok orch check quiet.recipe; says_not warning
ok orch run quiet.recipe -j 3; says '3 ok'; says_not warning
ok orch ls -m seen -n 3 --json
same "$(json runs.0.seen) $(json runs.1.seen) $(json runs.2.seen)" '1.0 1.0 1.0' 'checkpoints'
same "$(ls .orch/results.db.d/checkpoints)" '' 'what is left of checkpoints'
