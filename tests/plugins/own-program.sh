# An experiment with 'program:' and no plugin: printed values are read as under 'orch try', parameters have the types of their values,
# files are kept, and a run of one is a run of the other. 'orch try --write' makes the recipe.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >mine.py <<'P'
import sys
a = dict(word.split("=", 1) for word in sys.argv[1:])
open("w%s.pt" % a["lr"], "w").write(a["lr"])
for epoch in range(3):
    print("epoch", epoch, "loss", float(a["lr"]) / (epoch + 1), "val_accuracy", 0.1 * epoch, "zip_%s" % a.get("zip", ""), 1)
P
git add -A
git commit -qm first
# what was tried, written down
trying=(orch try -x lr=0.1,0.01 -s zip:text=0123 --repeat 2 --artifact w.pt=w{lr}.pt --inputs mine.py --timeout 1min)
command=(-- python3 mine.py lr={lr} zip={zip})
ok "${trying[@]}" --write tune.recipe "${command[@]}"
says "wrote tune.recipe: 'orch run tune.recipe' runs the same trials"
says '4 trials: 4 ok'
cat >expected <<'R'
format: 1
recipe: tune
experiments:
  mine:
    program: python3 mine.py lr=${lr} zip=${zip}
    types: { zip: text }
    with: { zip: 0123 }
    sweep: { lr: [0.1, 0.01] }
    repeat: 2
    inputs: [mine.py]
    timeout: 60
    artifacts:
      w.pt: "w${lr}.pt"
R
cmp expected tune.recipe || _fail 'another recipe'
ok orch check tune.recipe
ok orch run tune.recipe
says '4 of 4 trials are done'
ok orch show @last --artifact w.pt
ok "${trying[@]}" "${command[@]}"
says '4 of 4 trials are done'
# it is not written over, nor where the command would start elsewhere, nor with a secret
fails 2 "${trying[@]}" --write tune.recipe "${command[@]}"
says "'tune.recipe' already exists"
mkdir sub
fails 2 "${trying[@]}" --write sub/tune.recipe "${command[@]}"
says 'is not in this folder'
fails 2 "${trying[@]}" --write tune "${command[@]}"
says '--write tune.recipe'
fails 2 orch try -n -s api_key=sk-abcdefghijklmnopqrstuvwx1234567890 --write key.recipe -- python3 mine.py lr=1 key={api_key}
says 'seems to contain a secret'
[ ! -e key.recipe ] || _fail 'a secret is written'
ok orch try -n -x lr=1 --force --write tune.recipe -- python3 mine.py lr={lr}
# whatever a shell passes on: blanks, quotes, dollars, braces, other bytes, ranges, searches
i=0
written() { # written ARG...: 'orch try ARG...' and its recipe have the same trials
    i=$((i + 1))
    ok orch try -n --write "t$i.recipe" "$@"
    ok orch check "t$i.recipe"
    ok orch try "$@"
    ok orch run "t$i.recipe"
    says 'are done'
}
written -s lr=0.5 -s 'note=a b: "c" #d $HOME' -- python3 mine.py lr={lr} note={note}
written -x lr='range(1,3)' -s 'empty=' -s yes=yes -s nothing=null -s 'list=[1, 2]' -- python3 mine.py lr={lr} 'a=${HOME} {x y} {{lr}}' e={empty} y={yes} n={nothing} l={list}
written -x 'lr=[0.5,1e-3]' -x C=1,10 --jobs 2 -s optimizer.lr=007 -- python3 mine.py lr={lr} C={C} o={optimizer.lr}
written -s 'größe=ü' -s lr=0.25 --metrics-from both --name mine-2 --resources cores=1 -- bash -c 'python3 mine.py lr=$1 "x=$2"; echo "a  b"' - {lr} {größe}
# those of a search are chosen anew
ok orch try -n -x lr='loguniform(1e-3,1)' --search 'max val_accuracy' --trials 3 --sampler random --stop 'median(warmup=2)' --write search.recipe -- python3 mine.py lr={lr}
ok orch check search.recipe
ok orch run search.recipe
says '3 trials: 3 ok'
# by hand: variables, a reference to a file of another experiment, values of the whole recipe, profiles, a report of any name
cat >hand.recipe <<'R'
format: 1
recipe: hand
with: { zip: 5 }
profile: small
profiles: { small: { experiments: { first: { sweep: { lr: [0.5, 2] } } } } }
experiments:
  first:
    program: python3 mine.py lr=${lr} zip=${zip}
    sweep: { lr: [1, 2] }
    artifacts: { weights: "w${lr}.pt" }
    metrics: { loss: min }
  second:
    program: [python3, mine.py, "lr=${lr}", "file=${file}", "home=${home}"]
    with: { lr: 3, file: "${first[lr=0.5].weights}", home: "${env:HOME}" }
report:
  - { title: T, table: { rows: lr, value: last loss, experiments: first } }
  - { title: B, best: { value: last loss, by: lr, experiments: first } }
  - { title: P, plot: { x: step, y: val_accuracy, by: lr, experiments: [first, second] } }
R
ok orch check hand.recipe
ok orch run hand.recipe
says '3 trials: 3 ok'
has 'Best of 2 settings: lr 0.5. Its loss is 0.1667'
has_not 'missing: '
ok orch run hand.recipe -s second.lr=0.75
says '3 trials: 1 ok, 2 done before'
# slips
slip() { # slip LINE TEXT: an experiment with that line
    printf 'format: 1\nrecipe: s\nexperiments:\n  e:\n    program: python3 mine.py lr=${lr}\n    with: { lr: 1 }\n    %s\n' "$1" >s.recipe
    fails 2 orch check s.recipe
    says "$2"
}
slip 'artifacts: { a b: x }' "'a b' cannot be the name of an artifact"
slip 'artifacts: { a: ../x }' 'lies outside of the working folder'
slip 'types: { lr: number }' "'number' is not a type of a parameter"
slip 'metrics_on: stdin' 'stdout'
slip 'sweep: { "a b": [1] }' "'a b' cannot be the name of a parameter"
printf 'format: 1\nrecipe: s\nexperiments:\n  e: { program: "python3 mine.py lr=${lr}" }\n' >s.recipe
fails 2 orch check s.recipe
says "the program of 'e' has no parameter 'lr'"
printf 'format: 1\nrecipe: s\nexperiments:\n  e: { program: "python3 mine.py lr=1", with: { n: 1 } }\n' >s.recipe
ok orch check s.recipe
says "its command does not use parameter 'n'"
printf 'format: 1\nrecipe: s\nexperiments:\n  e: { plugin: sleep, types: { seconds: int }, artifacts: { a: b } }\n' >s.recipe
fails 2 orch check s.recipe
says "'types' can only be used in an experiment with 'program' and no plugin"
says "'artifacts' can only be used in an experiment with 'program'"
# in place of a plugin's code: what it prints counts, without a word of the protocol
printf 'format: 1\nrecipe: p\nexperiments:\n  e: { plugin: "null", program: "python3 mine.py lr=4", metrics_on: both }\n' >p.recipe
ok orch run p.recipe
says '1 trial: 1 ok'
ok orch show @last --json
has val_accuracy
