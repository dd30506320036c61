# Where the folder of the store cannot be made, as in a folder of somebody else, the message says how to keep it elsewhere.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
touch file
ORCH_DB=$PWD/file/sub/results.db fails 3 orch try -- echo x 1
says "cannot make folder '$PWD/file/sub'"
says_not 'hint'
long=$(printf 'a%.0s' $(seq 300))
ORCH_DB=$PWD/$long/results.db fails 3 orch try -- echo x 1
says_not 'keep the store elsewhere'
ORCH_DB=/sys/orch-test/results.db fails 3 orch try -- echo x 1 # nobody may write there
says 'hint: keep the store elsewhere: --db FILE or ORCH_DB'
same "$(grep -c hint <<<"$err")" 1 'hints'
ok orch --db "$SCRATCH/other/results.db" try -- echo x 1
ok orch --db "$SCRATCH/other/results.db" ls --json
same "$(json runs.#)" 1
if [ "$(id -u)" != 0 ]; then
    mkdir closed
    chmod a-w closed
    cd closed
    fails 3 orch -C . try -- echo x 1
    says 'keep the store elsewhere: --db FILE or ORCH_DB'
fi
exit 0
