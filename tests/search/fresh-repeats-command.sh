# The command that estimates a search's winner anew can be typed as it is printed: the trial's own values, braces and
# dollars of the program's own, and the options without which the repeats record nothing.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >t.py <<'P'
import sys
lr, seed, out, text = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
open(out + "/w.txt", "w").write(text)
print("acc", 1 - (lr - 0.3) ** 2 + seed % 10 / 1000, file=sys.stderr)
P
git add -A
git commit -qm one
ok orch try -x 'lr=uniform(0, 1)' --search 'max acc' --trials 6 --name tune --metrics-from stderr \
    --artifact 'w={trial_dir}/w.txt' -- python3 t.py '{lr}' '{seed}' '{trial_dir}' '{{lr}} {"a": 1} $HOME ${seed}'
says 'for an unbiased value, repeat the setting: orch try'
again=$(sed -n 's/.*for an unbiased value, repeat the setting: //p' <<<"$err")
eval "ok $again"
says '5 ok'
ok orch ls --json
same "$(of_json '" ".join({r["experiment"] for r in it["runs"]})')" tune 'one experiment'
ok orch show @last --json
same "$(json metrics.0.name)" acc
ok orch show @last --artifact w
same "$out" '{lr} {"a": 1} $HOME ${seed}' 'the words of the program'
# the same of a recipe's search, whose report then has the mean of the new runs; those of another command do not count
cat >k.recipe <<'R'
format: 1
recipe: k
experiments:
  q:
    program: python3 n.py ${x} ${seed}
    search: { x: "uniform(0, 1)" }
    objective: { metric: min loss, trials: 6, seed: 4 }
report:
  - { title: S, search: { experiments: q } }
R
echo 'import sys; print("loss", (float(sys.argv[1]) - 0.3) ** 2 + int(sys.argv[2]) % 100 / 100)' >n.py
git add -A
git commit -qm k
ok orch run k.recipe -q
ok orch report k.recipe
again=$(grep -o 'orch try -s.*' <<<"$out")
eval "ok ${again/ n.py/ ./n.py}"
ok orch report k.recipe
has "$again"
eval "ok $again"
ok orch report k.recipe
has '5 fresh repeats, not used to choose the setting, give'
