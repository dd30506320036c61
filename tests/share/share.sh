# Two clones run one recipe with --share at the same time: each trial runs once, and both have all results; the same
# through a folder. The plan shows the trials of the other clone.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_SLOTS=off # these are several machines
cd "$SCRATCH"
export ORCH_CLAIM_S=60 # who has work looks every thirtieth of it, who waits more often
# both COMMAND...: ada and bob do it at once, each in a clone; their stderr in $SCRATCH/NAME.err
both() {
    for who in ada bob; do
        (
            cd $who && ORCH_USER=$who "$@" >"$SCRATCH/$who.out" 2>"$SCRATCH/$who.err"
            echo $? >"$SCRATCH/$who.status"
        ) &
    done
    wait
    for who in ada bob; do
        out=$(<$who.out) err=$(<$who.err)
        [ "$(<$who.status)" = 0 ] || _fail "status $(<$who.status) of $who: $*"
    done
}
runs_in() {
    ok orch -C "$1" ls --json -n 1000
    json runs.#
}
digest_in() {
    ok orch -C "$1" db info --json
    json digest
}
git init -q --bare hub.git
for who in ada bob; do
    git clone -q hub.git $who 2>/dev/null
    (cd $who && sleeps naps '0.2, 0.21, 0.22, 0.23, 0.24' 2)
done
both orch run naps.recipe --share --wait
same "$(runs_in ada)" 10 'runs of ada'
same "$(runs_in bob)" 10 'runs of bob'
same "$(digest_in ada)" "$(digest_in bob)" 'the stores'
ok orch -C ada ls --json -n 1000 --where 'state=ok and who=bob'
theirs=$(json runs.#)
ok orch -C ada ls --json -n 1000 --where 'state=ok and who=ada'
same $((theirs + $(json runs.#))) 10 'runs that ended ok'
# all claims were given back, no branch was made, nothing is left of them here
same "$(git -C hub.git for-each-ref --format='%(refname)')" refs/orch/results
same "$(git -C ada for-each-ref refs/orch/claims)" ''
# a classmate's run counts, and is named
cd ada
export ORCH_USER=ada
ok orch plan naps.recipe --share
has 'by bob'
says '10 done'
ok orch run naps.recipe --share
says 'nothing to run'
cd ..
# while bob runs, ada's plan says so; without --wait what he has is left to him
(cd bob && ORCH_USER=bob exec orch run naps.recipe -x seconds=3 --share >/dev/null 2>&1) &
bob=$!
cd ada
for _ in $(seq 100); do
    [ -n "$(git -C ../hub.git for-each-ref refs/orch/claims)" ] && break
    sleep 0.1
done
ok orch plan naps.recipe -x seconds=3 --share --json
same "$(json trials.0.state)" held
has 'claimed by bob until '
has '"missing"'
ok orch plan naps.recipe -x seconds=3 --remote origin
has 'claimed by bob'
ok orch plan naps.recipe -x seconds=3
has_not bob
ok orch db check
kill -INT $bob
wait $bob
same "$(git -C ../hub.git for-each-ref refs/orch/claims)" '' 'claims after Ctrl-C'
# with --wait: for whom, and until when
sleeps one 60
cp one.recipe ../bob/
(cd ../bob && ORCH_USER=bob exec orch run one.recipe --share >/dev/null 2>&1) &
bob=$!
for _ in $(seq 100); do
    [ -n "$(git -C ../hub.git for-each-ref refs/orch/claims)" ] && break
    sleep 0.1
done
orch run one.recipe --share --wait >/dev/null 2>"$SCRATCH/wait.err" &
ada=$!
for _ in $(seq 100); do
    grep -q waiting "$SCRATCH/wait.err" && break
    sleep 0.1
done
kill -INT $ada
wait $ada
kill -INT $bob
sleep 0.3
kill -INT $bob
wait $bob
err=$(<"$SCRATCH/wait.err")
says 'waiting: 1 trial is run by bob until '
says 'Ctrl-C ends the wait'
says_not warning
same "$(grep -c waiting: <<<"$err")" 1 'lines that say whom it waits for'
# a folder is a place as well, and needs no git
cd "$SCRATCH"
mkdir shared
for who in ada bob; do rm -rf $who/.orch; done
both orch run naps.recipe --share --remote ../shared --wait
same "$(runs_in ada)" 10
same "$(runs_in bob)" 10
same "$(digest_in ada)" "$(digest_in bob)" 'the stores'
# what cannot be shared is said
cd ada
fails 2 orch run naps.recipe --wait
says "option '--wait' needs '--share'"
fails 2 orch run naps.recipe --remote origin
says 'add --share'
fails 2 orch run naps.recipe --share --smoke
says "option '--share' excludes '--smoke'"
fails 3 orch run naps.recipe --share --remote nowhere
says 'nowhere'
