#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Two hosts share a store on a network file system (ORCH_SHARDS=1, two ORCH_SHARD_HOSTs): with --share each trial runs
# once, by claims in the store's folder, without a remote and with one that is unavailable.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_SLOTS=off # these are several machines
export ORCH_SHARDS=1 ORCH_CLAIM_S=60
both() {
    for host in alpha beta; do
        ORCH_SHARD_HOST=$host "$@" >"$SCRATCH/$host.out" 2>"$SCRATCH/$host.err" &
    done
    wait
    for host in alpha beta; do
        out=$(<"$SCRATCH/$host.out") err=$(<"$SCRATCH/$host.err")
        case $err in *' ok'*) ;; *) _fail "$host ran nothing" ;; esac
    done
}
runs_on() {
    ORCH_SHARD_HOST=$1 ok orch ls -n 1000 --json
    json runs.#
}
sleeps naps '0.2, 0.21, 0.22, 0.23, 0.24' 2
both orch run naps.recipe --share --wait
same "$(runs_on alpha) $(runs_on beta)" '10 10' 'runs'
[ -d .orch/results.db.d/claims ] || _fail 'no claims in the folder of the store'
[ -d .orch/bundles ] && _fail 'results were sent to the own folder'
ORCH_SHARD_HOST=alpha ok orch db check

# the trial that the other host runs is named with its host, and left alone
sed -i 's/seconds: .*/seconds: [3] }/' naps.recipe
ORCH_SHARD_HOST=alpha orch run naps.recipe --share >/dev/null 2>&1 &
runner=$!
export ORCH_SHARD_HOST=beta
for _ in $(seq 100); do
    ok orch plan naps.recipe --share
    case $out in *held*) break ;; esac
    sleep 0.05
done
has 'claimed by tester on '
ok orch coverage naps.recipe --json
same "$(json totals.claimed) $(json claims_known)" '1 true' 'coverage'
kill -TERM $runner
wait $runner
ok orch coverage naps.recipe --json
same "$(json totals.claimed)" 0 "claimed after its end"

# a remote that cannot be reached: it is said, and the hosts still reuse each other's runs
sed -i 's/seconds: .*/seconds: [0.3, 0.31, 0.32] }/' naps.recipe
git remote add origin "$SCRATCH/gone.git"
both orch run naps.recipe --share --wait
for host in alpha beta; do
    err=$(<"$SCRATCH/$host.err")
    says "'orch push' sends them"
done
ok orch ls -n 1000 --json --where 'seconds >= 0.3 and seconds < 1'
same "$(json runs.#)" 6 'runs of both without the remote'
