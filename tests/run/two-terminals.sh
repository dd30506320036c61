# Two runs of one recipe in two terminals share the work, and each trial runs once.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
sleeps naps '0.10, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16, 0.17'
ok orch init # so that neither is late because it makes the store
orch run naps.recipe --json >o1 2>e1 &
a=$!
orch run naps.recipe --json >o2 2>e2 &
b=$!
wait $a
same $? 0 'the first exit status'
wait $b
same $? 0 'the second exit status'
ok orch ls --json -n 0
same "$(json runs.#)" 8 'the number of runs'
same "$(python3 -c 'import json
print(sorted({r["setting"]["seconds"] for r in json.load(open("'"$SCRATCH/out"'"))["runs"]}))')" \
    '[0.1, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16, 0.17]' 'what ran'
out=$(cat o1)
first=$(json ended.ok) first_reused=$(json done_before)
out=$(cat o2)
second=$(json ended.ok) second_reused=$(json done_before)
same $((first + second)) 8 'what both ran together'
same "$((first + first_reused)) $((second + second_reused))" '8 8' 'what each ran or took as done'
# one of the two is killed: the other takes over what it held
printf 'command: [sh, -c, "while [ ! -e $$HOME/go ]; do sleep 0.05; done; echo x ${n}"]\nparameters: { n: 1 }\nmetrics: { x: min }\n' >wait.plugin
printf 'format: 1\nrecipe: more\nexperiments:\n  e: { plugin: ./wait.plugin, sweep: { n: [1, 2, 3, 4] } }\n' >more.recipe
orch run more.recipe >o1 2>e1 &
a=$!
until_true begun
orch run more.recipe >o2 2>e2 &
b=$!
until_true begun 2
kill -KILL $a
wait $a 2>/dev/null
touch "$HOME/go"
wait $b
same $? 0 'the exit status of the one that is left'
ok orch ls --recipe more --state ok --json -n 0
same "$(json runs.#)" 4 'the trials that ended well'
ok orch ls --json
has_not '"running"'
has_not '"interrupted"'
[ -z "$(ls .orch/results.db.d/trials)" ] || _fail 'a folder of a trial is left'
ok orch db check
