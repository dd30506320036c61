# Options that select trials and set parameters: profiles, -s and -x, zip, --part, --require-clean.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >v.recipe <<'R'
format: 1
recipe: v
profile: small
profiles:
  small:
    with: { seconds: 0.01 }
    experiments: { b: { repeat: 2 }, c: { skip: not in small } }
  large:
    with: { seconds: 0.02 }
    experiments: { a: { with: { seconds: 0.03 } }, c: { sweep: { seconds: [0.04, 0.05] } } }
with: { seconds: 0.5 }
experiments:
  a: { plugin: sleep }
  b: { plugin: sleep, with: { seconds: 0.6 } }
  c: { plugin: sleep, zip: { seconds: [0.1, 0.2] } }
R
# EXPERIMENT:SECONDS#REPEAT of each trial of a plan that is not skipped
trials() {
    ok orch plan "$@" --json
    printf '%s' "$out" | python3 -c '
import json, sys
print(" ".join("%s:%g#%d" % (t["experiment"], float(t["params"]["seconds"]), t["repeat"])
               for t in json.load(sys.stdin)["trials"] if t["state"] != "skipped"))'
}
is() {
    local want=$1
    shift
    same "$(trials "$@")" "$want" "trials of: $*"
}
is 'a:0.01#1 b:0.01#1 b:0.01#2' v.recipe
is 'a:0.03#1 b:0.02#1 c:0.04#1 c:0.05#1' v.recipe --profile large
is 'b:0.02#1' v.recipe b -p large
ok orch plan v.recipe
says "c: skipped by profile 'small': not in small"
ok orch plan v.recipe --json
same "$(json left_out.c)" 'not in small'
# the command line is strongest, and among its settings the one that names the experiment
is 'a:7#1 b:7#1 b:7#2' v.recipe -s seconds=7
is 'a:7#1 b:8#1 b:8#2' v.recipe -s seconds=7 -s b.seconds=8
is 'a:7#1 b:8#1 b:8#2' v.recipe -s b.seconds=8 -s seconds=7
is 'a:1#1 a:2#1 b:8#1 b:8#2' v.recipe -x seconds=1,2 -s b.seconds=8
ok orch config v.recipe --origin -s b.seconds=8
has 'v.recipe:6'
has '8'
fails 2 orch plan v.recipe --profile larg
says "large"
fails 2 orch plan v.recipe -s secnods=1
says seconds
fails 2 orch plan v.recipe d
says "'d'"
# lists that move together: as many as the lists are long, times the sweep
cat >z.recipe <<'R'
format: 1
recipe: z
experiments:
  z: { plugin: pyexample, sweep: { lr: [0.1, 0.2] }, zip: { batch: [8, 16, 32], epochs: [1, 2, 3] } }
R
ok orch plan z.recipe --json
same "$(printf '%s' "$out" | python3 -c '
import json, sys
print(" ".join("%(lr)g/%(batch)d/%(epochs)d" % t["params"] for t in json.load(sys.stdin)["trials"]))')" \
    '0.1/8/1 0.1/16/2 0.1/32/3 0.2/8/1 0.2/16/2 0.2/32/3'
# one taken out of the zip leaves the rest in place
ok orch check z.recipe -s epochs=1
has '6 trials'
sed -i 's/32\]/32, 64]/' z.recipe
fails 2 orch check z.recipe
says 'batch'
says 'epochs'
# parts cover everything, none overlaps: also when both run
sleeps naps '0.01, 0.011, 0.012, 0.013, 0.014' 3
ok orch run naps.recipe --part 1/2
says '8 trials: 8 ok'
ok orch plan naps.recipe --part 2/2 --json
same "$(json left)" 7
ok orch run naps.recipe --part 2/2
says '7 trials: 7 ok'
ok orch run naps.recipe
says 'nothing to run: 15 of 15'
ok orch ls --json -n 0
same "$(json runs.#)" 15
for wrong in 0/2 3/2 x 1/0 1; do fails 2 orch run naps.recipe --part $wrong; done
# nothing runs on uncommitted changes when that is asked for
git add -A
git commit -qm all
ok orch run v.recipe --require-clean -x b.seconds=0.021,0.022
says '4 ok, 1 done before'
echo more >>README.md
fails 2 orch run v.recipe --require-clean --force
says 'uncommitted'
sed '1arequire_clean: true' v.recipe >c.recipe
git add -A
fails 2 orch run c.recipe
says 'uncommitted'
git commit -qm more
ok orch run c.recipe
says 'nothing to run: 3 of 3' # the same trials under another name
