# A warning that a plugin logs in its check is shown by check, plan and run, once for an experiment; trials run all the same.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_PLUGIN_PATH=$BUILD/tests/moody
trust "$BUILD/tests/moody/moody.so"
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  a: { plugin: moody, with: { mood: worried }, sweep: { number: [1, 2] } }
  b: { plugin: moody, with: { mood: fine } }
R
for command in check plan; do
    ok orch $command t.recipe
    says "warning: experiment 'a': this could take a while"
    says 't.recipe:4:3'
    same "$(grep -c 'this could take a while' <<<"$err")" 1 'said once'
    says_not 'all is well'
done
