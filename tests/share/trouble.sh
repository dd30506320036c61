# Faults while sharing: a killed runner, an unavailable network, a server that rejects claims; and trials that are never
# claimed.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_SLOTS=off # these are several machines
cd "$SCRATCH"
git init -q --bare hub.git
for who in ada bob; do
    git clone -q hub.git $who 2>/dev/null
    (cd $who && sleeps naps '1.5')
done
claims() { git -C "$SCRATCH/hub.git" for-each-ref refs/orch/claims; }
is_claimed() { [ -n "$(claims)" ]; }
# a runner is killed: its claim ends, and who waits takes over
(cd ada && ORCH_CLAIM_S=4 ORCH_USER=ada exec orch run naps.recipe --share >/dev/null 2>&1) &
ada=$!
until_true is_claimed
kill -KILL $ada
wait $ada 2>/dev/null
cd bob
export ORCH_CLAIM_S=4 ORCH_USER=bob
ok orch run naps.recipe --share
says '1 trial is run by ada until '
says '--wait waits for the results'
says '1 left to others'
fails 1 orch run naps.recipe --share --require ok
ok orch run naps.recipe --share --wait
says '1 ok'
same "$(claims)" ''
unset ORCH_CLAIM_S
# never claimed: forced trials, trials whose runs are never reused; their results are sent all the same
sed 's/^    repeat: 1/    repeat: 1\n    reuse: never/' naps.recipe >never.recipe
for args in 'naps.recipe --force' never.recipe; do
    (exec orch run $args --share >/dev/null 2>&1) &
    pid=$!
    for _ in $(seq 100); do
        [ -n "$(ls .orch/results.db.d/trials/*/journal 2>/dev/null)" ] && break
        sleep 0.05
    done
    same "$(claims)" '' "claims of $args"
    wait $pid
done
ok orch status
says_not ahead
# Ctrl-C: the claim is given back at once
(exec orch run naps.recipe -x seconds=20 --share >/dev/null 2>&1) &
pid=$!
until_true is_claimed
until_true begun
interrupt $pid
wait $pid
same "$(claims)" ''
# Ctrl-C while the claim is on its way: the server has it, so it is given back, too
hook=$SCRATCH/hub.git/hooks/post-receive
cat >$hook <<H
#!/bin/sh
touch $SCRATCH/received
until [ -e $SCRATCH/go ]; do sleep 0.05; done
H
chmod +x $hook
(exec orch run naps.recipe -x seconds=21 --share >/dev/null 2>&1) &
pid=$!
until_true test -e $SCRATCH/received
kill -INT $pid
touch $SCRATCH/go
wait $pid
rm $hook
same "$(claims)" '' 'claims after Ctrl-C in a push'
# what others have run, but is too large to come along, is made again where another trial wants it
cd ..
for who in ada bob; do
    cat >$who/big.plugin <<'Y'
plugin: big
version: 1.0.0
about: makes a large file
licence: MIT
command: [sh, "-c", "sleep 1; echo x 1; head -c 5000000 /dev/zero >out.bin"]
metrics: { x: { help: nothing } }
artifacts: { file: out.bin }
Y
    cat >$who/size.plugin <<'Y'
plugin: size
version: 1.0.0
about: reads it
licence: MIT
command: [sh, "-c", "echo size $$(wc -c <${from})"]
parameters: { from: { type: artifact, help: a file } }
metrics: { size: { help: bytes } }
Y
    printf 'format: 1\nrecipe: big\nexperiments:\n  big: { plugin: ./big.plugin }\n  size: { plugin: ./size.plugin, with: { from: "${big.file}" } }\n' >$who/big.recipe
done
(
    cd ada
    ORCH_CLAIM_S=60 ORCH_USER=ada exec orch run big.recipe big --share >/dev/null 2>&1
) &
ada=$!
until_true is_claimed
cd bob
ok env ORCH_CLAIM_S=60 orch run big.recipe --share --wait --json
same "$(json ended.ok) $(json done_before) $(json not_run)" '2 0 0'
wait $ada
# a server that takes no claims: said once, the run goes on
printf '#!/bin/sh\nwhile read a b ref; do case $ref in *claims*) echo no claims here >&2; exit 1;; esac; done\n' >../hub.git/hooks/pre-receive
chmod +x ../hub.git/hooks/pre-receive
ok orch run naps.recipe -x seconds=0.1,0.11 --share
says '2 ok'
says 'refuses claims'
same "$(grep -c warning <<<"$err")" 1 'warnings'
rm ../hub.git/hooks/pre-receive
# a network that is gone: said once, the run goes on, its results are sent later
mv ../hub.git ../gone.git
ok orch run naps.recipe -x seconds=0.12,0.13 --share
says '2 ok'
says 'warning: cannot fetch the runs of others'
says "'orch push' sends them"
same "$(grep -c 'warning: ' <<<"$err")" 2 'warnings'
ok orch plan naps.recipe --share
says 'cannot read the claims of others'
has done
mv ../gone.git ../hub.git
ok orch push
cd ../ada
ok orch pull
ok orch ls --json --where 'seconds=0.13'
same "$(json runs.0.who)" bob
# a folder that is not there is told before anything runs
fails 3 orch run naps.recipe -x seconds=0.14 --share --remote /nonexistent/folder
says '/nonexistent/folder'
# no remote at all
cd "$SCRATCH/w"
sleeps naps '0.01'
fails 3 orch run naps.recipe --share
says 'has no remote'
ok orch run naps.recipe
says '1 ok'
# outside any repository a path will do
rm -rf .git .orch
sleeps naps '0.15'
ok orch run naps.recipe --share --remote ../hub.git
says '1 ok'
says_not 'not known'
says_not 'cannot'
same "$(claims)" ''
cd ../ada
ok orch pull
ok orch ls --json --where 'seconds=0.15'
same "$(json runs.#)" 1
