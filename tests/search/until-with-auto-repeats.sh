# 'until' with 'repeat: auto': the search ends when the point that has reached it is known, and does not wait for repeats
# that are left out.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >t.sh <<'P'
echo "loss 1.00$2"
P
search() {
    ok timeout 60 orch try -x 'lr=uniform(0, 1)' --search 'min loss' --trials 4 --until 1.5 \
        --repeat 'auto(ci=2%, max=14)' "$@" -- sh t.sh {lr} {repeat}
}
search -j 1
says '10 ok, 46 not needed'
ok orch ls --json
same "$(json runs.#)" 10 'runs'
search -j 1
says '10 done before'
rm -rf .orch
search -j 8
says 'not needed'
ok orch ls --json
before=$(json runs.#)
search -j 8
ok orch ls --json
same "$(json runs.#)" "$before" 'the same command makes no more'
