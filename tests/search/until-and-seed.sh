# --until in per cent means what is stored: a share, or per cent where the metric declares that unit. --seed is that of the sampler.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >p.py <<'P'
import sys
print("accuracy: %.1f%%" % (100 * float(sys.argv[1])))
P
cat >p.plugin <<'P'
plugin: p
version: 1.0.0
about: an accuracy
metrics_from: lines
command: [python3, p.py, '${x}']
parameters:
  x: { type: real, default: 0.5 }
metrics:
  accuracy: { better: max, unit: '%' }
P
recipe() { # recipe UNTIL
    cat >p.recipe <<R
format: 1
recipe: p
experiments:
  tune:
    plugin: p
    search: { x: "uniform(0, 1, step 0.1)" }
    objective: { metric: max accuracy, trials: 11, sampler: random, until: $1 }
R
}
git add .
git commit -qm program
search() { # search OPTION...: of all shares from 0 to 1
    rm -rf .orch
    ok orch try -x 'x=uniform(0, 1, step 0.1)' --sampler random --search 'max accuracy' --trials 11 "$@" -- python3 p.py '{x}'
}
values() { orch ls --json "$@" | python3 -c 'import json, sys; print(*[r["setting"]["x"] for r in json.load(sys.stdin)["runs"]][::-1])'; }

for until in 90% '90 %' 0.9; do
    search --until "$until"
    says 'not needed'
    says_not 'in per cent'
    same "$(values -w 'accuracy >= 0.9' | wc -w)" 1 "$until"
done
# what no share reaches is doubted, once
search --until 90
says "accuracy is 0"
same "$(grep -c "write '90%'" <<<"$err")" 1
says_not 'not needed'
fails 2 orch try -x 'x=uniform(0, 1)' --search 'max accuracy' --until 90%% -- python3 p.py '{x}'
says "'until': '90%%' is not a number"

# values in per cent without the sign go beyond 1
cat >bare.py <<'P'
import sys
print("accuracy", 100 * float(sys.argv[1]))
print("error: %.1f%%" % (100 * float(sys.argv[1])))
print("rest", 100 * float(sys.argv[1]))
P
git add .
git commit -qm bare
bare() { # bare METRIC UNTIL
    rm -rf .orch
    ok orch try -x 'x=uniform(0, 1, step 0.1)' --sampler random --search "$1" --trials 11 --until "$2" -- python3 bare.py '{x}'
}
bare 'max accuracy' 90%
says 'so its values are probably in per cent: the search ends at 90'
same "$(values -w 'accuracy >= 90' | wc -w)" 1
says 'not needed'
# the smallest is not taken so, since it may be a share beyond 1; what ends a search at its first point is doubted
bare 'min rest' 10%
says "the search ends at 0.1. If its values are in per cent, write '10'"
bare 'min error' 10
says "If you mean per cent, write '10%'"
bare 'min error' 10%
says_not 'says so'

# a metric in per cent, which is stored so
for until in 90% 90; do
    recipe "$until"
    rm -rf .orch
    ok orch run p.recipe
    says 'not needed'
    same "$(values -w 'accuracy >= 90' | wc -w)" 1 "$until"
    says_not 'in per cent'
done

# the same seed gives the same points, another one others; 0 is the default
search --trials 4
default=$(values)
search --trials 4 --seed 0
same "$(values)" "$default"
search --trials 4 --seed 7
seven=$(values)
[ "$seven" != "$default" ] || _fail 'another seed gives other points'
search --trials 4 --seed 7
same "$(values)" "$seven"
# it is no trial's seed, and no parameter's
ok orch try -x 'x=uniform(0, 1)' -s seed=3 --seed 7 --search 'max accuracy' --trials 2 --name s -- python3 p.py '{x}' '{seed}'
same "$(orch ls -e s -w 'param.seed = 3' --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))')" 2
fails 2 orch try -x 'x=0.5' --seed 7 -- python3 p.py '{x}'
says "option '--seed' sets the seed of a search's sampler"
fails 2 orch try -x 'x=uniform(0, 1)' --search 'max accuracy' --seed -1 -- python3 p.py '{x}'
says '--seed -1'
