. "$(dirname "$0")/lib.sh"
sleeps naps '0.10, 0.11, 0.12, 0.13, 0.14, 0.15'
orch run naps.recipe >o1 2>e1 & a=$!
orch run naps.recipe >o2 2>e2 & b=$!
wait $a; same $? 0 'the first exit status'
wait $b; same $? 0 'the second exit status'
ok orch ls --json -n 0; same "$(json runs.#)" 6 'the number of runs'
ok orch db check
