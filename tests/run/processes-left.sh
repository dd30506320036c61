# A process that ends by itself shortly after the program is left to do so, as by hand; one that stays is ended, and said.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
git commit -q --allow-empty -m first
# five times, because a loaded machine may keep one of these processes waiting
ok orch try --repeat 5 -- sh -c '(sleep 0.05; echo helper-ended; echo accuracy 0.75) & echo loss 0.5'
ok orch ls --json -n 0
same "$(json runs.#)" 5
kept=0
for at in 0 1 2 3 4; do
    ok orch ls --json -n 0
    ok orch log "$(json runs.$at.key)"
    case $out$err in
        *outlived*) ;;
        *) kept=$((kept + 1)) ;;
    esac
done
test "$kept" -ge 1 || _fail 'each helper was ended before its time'
ok orch ls --where 'accuracy = 0.75' --json -n 0
test "$(json runs.#)" -ge 1 || _fail 'what a helper printed is not read'
ok orch try -- sh -c 'sleep 300 & echo loss 0.5'
ok orch log @last
case $out$err in
    *'1 process outlived the trial and was ended: sleep'*) ;;
    *) _fail 'the process that stays is not said' ;;
esac
