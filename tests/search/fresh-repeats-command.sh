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
