# This machine, measured and kept as a device that can be predicted for.
. "$(dirname "$0")/lib.sh"
fails 2 orch predict --gpu here --net lenet5; says 'this machine has not been measured yet'
_run orch doctor --bench
[ $status = 0 ] || [ $status = 7 ] || _fail "status $status"
has 'GFLOP/s on one core'; has 'GB/s (copy)'; has 'MB/s written'
ok orch gpu show here; has processor; has 'measured:'
ok orch predict --gpu here --net lenet5 --json
same "$(json tier) $(json predictions.#)" 'prior 1'
[ -z "$(ls | grep orch-disk)" ] || _fail 'the file that measured the disk is still there'
