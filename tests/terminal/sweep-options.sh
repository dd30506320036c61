#!/usr/bin/env bash
# run, plan, try and predict read -x in the same way: several values, several parameters, and quoted text that looks
# like a list.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >two.plugin <<'P'
plugin: two
command: [sh, -c, "echo loss: ${n}"]
parameters:
  n: { type: int }
  batch: { type: int, default: 1 }
  text: { type: string, default: x }
P
printf 'format: 1\nrecipe: two\nexperiments:\n  a: { plugin: ./two.plugin, with: { n: 1 } }\n' >two.recipe
ok orch plan two.recipe -x n=1,2,batch=3,4,5 --json
same "$(json trials.#)" 6 trials
ok orch plan two.recipe -x n=1,2 -x batch=3,4,5 --json
same "$(json trials.#)" 6 trials
ok orch plan two.recipe -x 'n=range(1,3),a.batch=7' --json
same "$(json trials.#)" 2 trials
ok orch plan two.recipe -x 'text=a=1,--b=2,"c=3"' --json
same "$(json trials.#)" 3 trials
fails 2 orch plan two.recipe -x n=1,batsh=2
says "'batsh'"
says "did you mean 'batch'?"
fails 2 orch plan two.recipe -x n=1,batch=2 -x n=3
says "'n' is also set by '-x n=1'"
fails 2 orch plan two.recipe -x n
says "'n' is not param=value"
ok orch run two.recipe --yes -x n=3,batch=2,4
ok orch ls --json
same "$(json runs.#)" 2 runs
ok orch try --name t -x n=1,2,k=3,4 -- echo loss: '{n}.{k}'
ok orch ls --where 'experiment = t' --json
same "$(json runs.#)" 4 'runs of try'
ok orch ls --where 'param.k = 4' --json
same "$(json runs.#)" 2 'runs with k = 4'
