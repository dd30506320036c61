# Ranges of any width: one value, values that need many digits, steps. A search has as many points as its ranges have values, the same
# command finds them done, and reports show them.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >sum.py <<'P'
import sys
print('v', sum(map(float, sys.argv[1:])))
P
git add .
git commit -qm sum
search() { # search TRIALS RANGE...: tries them; values are those of the ranges
    local trials=$1 letter=a words=() settings=()
    shift
    for range in "$@"; do
        settings+=(-x "$letter=$range")
        words+=("{$letter}")
        letter=$(tr 'a-y' 'b-z' <<<"$letter")
    done
    _run orch try "${settings[@]}" --search 'max v' --trials "$trials" -- python3 sum.py "${words[@]}"
    [ "$status" = 0 ] || _fail "$*: $err"
}
count() { # count WORDS: how many runs the store has
    orch ls -w "$1" --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))'
}

# one value, beside a range that has many
for range in 'int(3,3)' 'loguniform(0.1,0.1)' 'choice(7)'; do
    rm -rf .orch
    search 3 "$range" 'uniform(0,1)'
    same "$(count 'state = ok')" 3 "$range"
done
# narrow ranges have as many values as wide ones, and each value is reused
for range in 'uniform(123456.2,123456.8)' 'uniform(1.0000001,1.0000009)' 'uniform(-1e308,1e308)'; do
    rm -rf .orch
    search 6 "$range"
    same "$(count 'state = ok')" 6 "$range"
    search 6 "$range"
    says '6 done before'
done
# a step: all of its values, and no other
rm -rf .orch
search 40 'int(32,512,step 32)'
same "$(count 'state = ok')" 16
same "$(orch best v --max --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["rankings"][0]["settings"][0]["by"]["a"])')" 512
rm -rf .orch
search 40 'uniform(0,1,step=0.05)' 'choice(1)'
same "$(count 'state = ok')" 21
same "$(count 'a = 0.15')" 1
# in a recipe, with a list of one choice; the report has the range, and its grid and charts the values
cat >w.recipe <<'R'
format: 1
recipe: w
experiments:
  tune:
    plugin: w
    search:
      a: uniform(123456.2, 123456.8)
      b: uniform(0, 1, step 0.5)
      c: [1]
    objective: { metric: max v, trials: 12, sampler: sobol }
report:
  - { title: Search, search: tune }
R
cat >w.plugin <<'P'
plugin: w
version: 1.0.0
about: a sum
metrics_from: lines
command: [python3, sum.py, '${a}', '${b}', '${c}']
parameters:
  a: { type: real, default: 0 }
  b: { type: real, default: 0 }
  c: { type: int, default: 0 }
metrics:
  v: { better: max }
P
sed -i 's/search: tune/search: { experiments: tune }/' w.recipe
ok orch run w.recipe -q
ok orch report w.recipe
has 'Best of 12 settings'
has '0 to 1, step 0.5'
has '123456.2 to 123456.8'

# what is no range says so, with its place
fails 2 orch try -x 'a=int(1,4,step 9)' --search 'max v' -- python3 sum.py '{a}'
says 'the step 9 is larger than the range from 1 to 4'
fails 2 orch try -x 'a=uniform(123456.8,123456.2)' --search 'max v' -- python3 sum.py '{a}'
says 'the range from 123456.8 to 123456.2 is empty'
