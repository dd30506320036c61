# An experiment for GPUs that the profile skips has no trials, so it does not reduce the number of other trials that run
# in parallel.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
unset OMP_NUM_THREADS # nproc reads it
[ "$(nproc)" -ge 2 ] || skip 'it needs two CPUs'
cat >t.recipe <<'R'
format: 1
recipe: t
profile: small
profiles:
  small: { jobs: 2, experiments: { gpu: { skip: "on the processor instead" } } }
experiments:
  cpu: { plugin: sleep, sweep: { seconds: [0.1, 0.2] } }
  gpu: { plugin: sleep, resources: { gpus: 1 }, with: { seconds: 0.3 } }
R
ok orch plan t.recipe --json
same "$(json forecast.slots)" 2
exit 0
