# First steps with 'orch try' and 'orch table': messages for a missing or misspelled argument, and the summary at the
# end of a run.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
# an option that does not exist, before a '--' that stands where it should
fails 2 orch try -x lr=1 --again -- sh -c 'echo loss {lr}'
says "see 'orch try --help'"
says_not "put '--' before"
fails 2 orch try -x lr=1 sh -c 'echo loss {lr}' --again
says "put '--' before the command"
fails 2 orch table lr loss
says "it takes options only: see 'orch table --help'"
says_not 'usage: orch table'
# the help of both says what is shown of how many runs
for command in table plot; do
    ok orch $command --help
    has '5 runs'
    has_not 'mean with its 95 %'
    has_not 'Means with their 95 %'
done
# an error above 100 % is written in full
echo 0.3 >"$SCRATCH/nap"
cat >nap.sh <<P
sleep \$(cat "$SCRATCH/nap"); echo loss \$1
P
git add -A
git commit -qm first
ok orch try -x n=1,2 -- sh nap.sh '{n}'
echo 0 >"$SCRATCH/nap"
ok orch try -x n=1,2 --force -- sh nap.sh '{n}'
says '2 forecasts: median error '
says_not 'e+0'
