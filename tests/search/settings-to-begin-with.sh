# A search begins with the settings that the user names, in their order, and goes on from them; what they cannot be is said.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >f.py <<'P'
import sys
lr, opt = float(sys.argv[1]), sys.argv[2]
print("loss", abs(lr - 0.25) + (opt == "sgd"))
P
search() { orch try -x 'lr=uniform(0, 1)' -x 'opt=choice(sgd, adam)' --search 'min loss' --trials 5 "$@" -- python3 f.py '{lr}' '{opt}'; }
settings() {
    ok orch ls --json -n 0 "$@"
    python3 -c 'import json, sys
print([(r["setting"]["lr"], r["setting"]["opt"]) for r in sorted(json.load(sys.stdin)["runs"], key=lambda r: r["started"])][:2])' <<<"$out"
}
ok search --try lr=0.25,opt=adam --try opt=sgd
says 'best of 5 settings: f lr=0.25 opt=adam'
same "$(settings)" "[(0.25, 'adam'), (0.5, 'sgd')]" 'the first two'
# the same again tries nothing twice; another one to begin with is one of the next
ok search --try lr=0.25,opt=adam
says 'nothing to run'
# in the recipe that is written, too
ok search --try lr=0.75,opt=adam --write s.recipe -n
grep -q 'try: \[{ lr: "0.75", opt: "adam" }\]' s.recipe || _fail 'the recipe'
ok orch check s.recipe
# a table of them: an empty cell is in the middle of its range
printf 'lr,opt\n0.125,sgd\n,adam\n' >points.csv
ok search --try points.csv --try lr=1,opt=sgd --write points.recipe -n
grep -q 'try: \[{ lr: "0.125", opt: "sgd" }, { opt: "adam" }, { lr: "1", opt: "sgd" }\]' points.recipe || _fail 'the rows'
ok search --try points.csv --try lr=1,opt=sgd --trials 2 -n
says "only the first 2 of the 3 settings of 'try' are run"
fails 3 search --try none.csv
says 'none.csv'
for wrong in "lr=2|'lr' cannot be '2'" "width=1|'width' is not searched" "lr|'lr' is not NAME=VALUE" "opt=rms|'opt' cannot be 'rms'"; do
    fails 2 search --try "${wrong%%|*}"
    says "${wrong##*|}"
done
# a mistyped range is no text, and another sampler than the wished one is named
fails 2 orch try -x 'lr=log_uniform(1e-4, 1)' -x 'opt=choice(sgd, adam)' --search 'min loss' -- python3 f.py '{lr}' '{opt}'
says "option '--sweep': 'lr=log_uniform(1e-4, 1)' is no range"
fails 2 orch try -x 'lr=normal(0,1)' --search 'min loss' -- python3 f.py '{lr}' sgd
says "'lr=normal(0,1)' is no range"
ok orch try -x 'lr=uniform(0,1)' -x 'opt=[f(x)]' --search 'min loss' -n -- python3 f.py '{lr}' '{opt}'
ok search --sampler cmaes -n
says 'the sampler cmaes takes numbers only, so tpe chooses the settings'
ok search --sampler tpe -n
says_not 'the sampler'
ok orch ask -x 'lr=uniform(0, 1)' -x 'opt=choice(sgd, adam)' --search 'min loss' -e f --sampler cmaes
says 'the sampler cmaes takes numbers only'
# values of several metrics, in brackets as the hint has them
fails 2 search --search 'min loss, min wall_s' --until 0.3 -n
says 'write one value for each metric: [0.95, 20]'
ok search --search 'min loss, min wall_s' --until '[0.95, 20]' -n
