# A search of which no trial has the metric is an error that names the metric, also when all of its trials were done before, or are too
# few to be asked for a point after the third.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
search=(-x 'at=uniform(0, 1)' --trials 4 -j 1)
script=(-- python3 -c 'print("loss", {at})')
ok orch try "${search[@]}" --search 'min loss' "${script[@]}"
says 'best of 4 settings'
# the same trials under a name that is mistyped
fails 2 orch try "${search[@]}" --search 'min los' "${script[@]}"
says "no run of the search has a metric or result 'los'"
says "'loss'"
ok orch try "${search[@]}" --search 'min loss' "${script[@]}"
says 'best of 4 settings'
# two trials that run now
fails 2 orch try -x 'n=int(1, 50)' --trials 2 -j 1 --search 'min los' -- python3 -c 'print("loss", {n} + 100)'
says "no run of the search has a metric or result 'los'"
# one of two has it
ok orch try -x 'n=int(1, 2)' --trials 2 -j 1 --search 'min odd' -- python3 -c 'print("odd" if {n} % 2 else "even", {n})'
says 'last odd 1'
# a smoke run records nothing and is no search
cat >silent.plugin <<'P'
plugin: silent
version: 1.0.0
about: declares a loss and prints none
metrics_from: lines
command: [python3, -c, 'import sys; print("other", float(sys.argv[1]))', '${at}']
parameters:
  at: { type: real, default: 0.5 }
metrics:
  loss: { better: min }
P
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  silent:
    plugin: ./silent.plugin
    search: { at: "uniform(0, 1)" }
    objective: { metric: min loss, trials: 2 }
R
ok orch run t.recipe -j 1 --smoke
says_not 'no run of the search'
fails 2 orch run t.recipe -j 1
says "no run of the search has a metric or result 'loss'"
