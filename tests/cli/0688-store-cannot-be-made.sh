# Where the folder of the store cannot be made, as in a folder of somebody else, the message says how to keep it elsewhere.
. "$(dirname "$0")/lib.sh"
touch file
ORCH_DB=$PWD/file/sub/results.db fails 3 orch try -- echo x 1
says "cannot make folder '$PWD/file/sub'"
says '--db FILE, or ORCH_DB, puts it elsewhere'
same "$(grep -c hint <<<"$err")" 1 'hints'
ok orch --db "$SCRATCH/other/results.db" try -- echo x 1
ok orch --db "$SCRATCH/other/results.db" ls --json
same "$(json runs.#)" 1
if [ "$(id -u)" != 0 ]; then
    mkdir closed
    chmod a-w closed
    cd closed
    fails 3 orch -C . try -- echo x 1
    says '--db FILE, or ORCH_DB, puts it elsewhere'
fi
exit 0
