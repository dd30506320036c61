# 'reuse: device' accepts runs that were made on the same kind of device.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >timed.recipe <<'R'
format: 1
recipe: timed
experiments:
  nap: { plugin: sleep, with: { seconds: 0.01 }, reuse: device }
  any: { plugin: sleep, with: { seconds: 0.02 }, reuse: any }
R
ok orch run timed.recipe
says '2 ok'
ok orch plan timed.recipe
has device
ok orch plan timed.recipe --json
same "$(json left)" 0
key=$(json trials.0.device_key)
same "$(json trials.0.reuse) $(json trials.1.reuse)" 'device any'
ok orch show @last --json
same "$(json device_key)" "$key"
ok orch show @last
has 'device '
has "$key"
ok orch coverage timed.recipe --json
same "$(json trials.0.runs.0.device_key)" "$key"
# the hash of a recipe with reuse: device
sed '/any:/d' timed.recipe >one.recipe
ok orch check one.recipe --json
same "$(json recipe_key)" 99efc96aba07ee0dd62e4cb42a5eb29689c91d0a08496f2ac868d9f024c246e8
