# `reuse: device`: runs count on the same kind of device. 'where' was its name: the error says so, and the
# recipe's hash and the runs made under the old name still count.
. "$(dirname "$0")/lib.sh"
cat >timed.recipe <<'R'
format: 1
recipe: timed
experiments:
  nap: { plugin: sleep, with: { seconds: 0.01 }, reuse: device }
  any: { plugin: sleep, with: { seconds: 0.02 }, reuse: any }
R
sed 's/reuse: device/reuse: where/' timed.recipe >old.recipe
for word in check plan run; do
    fails 2 orch $word old.recipe
    says "'reuse': 'where' is now called 'device'"; says 'at: old.recipe:4:57'; says "hint: write 'reuse: device'"
done
ok orch run timed.recipe; says '2 ok'
ok orch plan timed.recipe; has device
ok orch plan timed.recipe --json; same "$(json left)" 0
key=$(json trials.0.device_key); same "$(json trials.0.reuse) $(json trials.1.reuse)" 'device any'
ok orch show @last --json; same "$(json device_key)" "$key"
ok orch show @last; has 'device '; has "$key"
ok orch coverage timed.recipe --json; same "$(json trials.0.runs.0.device_key)" "$key"
# the hash that `reuse: where` had
sed '/any:/d' timed.recipe >one.recipe
ok orch check one.recipe --json; same "$(json recipe_key)" 71baf2f982ce1b47180bcefa7ea866377d4a886d2f83b243e0eebbad4365a6d9
