# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced after lib.sh: stand-ins for Slurm's programs that work on a folder, $CLUSTER, and a few words.
# sbatch keeps each job in $CLUSTER/jobs/ID (its script, options and one file a state of each element);
# 'play JOB [INDEX...]' runs elements as a node would; 'set_state JOB_INDEX STATE' says what squeue (or,
# when it is in $CLUSTER/accounts, sacct) answers; with $CLUSTER/late sacct knows only these. Each call is a line of $CLUSTER/calls.
export CLUSTER=$SCRATCH/cluster
mkdir -p "$CLUSTER/jobs" "$CLUSTER/accounts" "$SCRATCH/slurm-bin"
: >"$CLUSTER/calls"
echo 1001 >"$CLUSTER/max"
echo on >"$CLUSTER/accounting"
echo up >"$CLUSTER/controller"
PATH=$SCRATCH/slurm-bin:$PATH

stand_in() {
    {
        printf '#!/bin/bash\necho "%s $*" >>"$CLUSTER/calls"\n' "$1"
        cat
    } >"$SCRATCH/slurm-bin/$1"
    chmod +x "$SCRATCH/slurm-bin/$1"
}

stand_in scontrol <<'S'
[ "$(cat "$CLUSTER/controller")" = up ] || { echo "slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)" >&2; exit 1; }
printf 'AccountingStorageType  = none\nMaxArraySize            = %s\nMaxJobCount = 10000\n' "$(cat "$CLUSTER/max")"
S
stand_in sbatch <<'S'
[ "$(cat "$CLUSTER/controller")" = up ] || { echo "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)" >&2; exit 1; }
for a; do
    case $a in
        --array=*) array=${a#*=} ;; --partition=nowhere) echo "sbatch: error: invalid partition specified: nowhere" >&2; exit 1 ;;
        --comment=*) comment=${a#*=} ;; --output=*) output=${a#*=} ;;
    esac
    script=$a
done
id=$(($(ls "$CLUSTER/jobs" | wc -l) + 101)); job=$CLUSTER/jobs/$id; mkdir -p "$job/state"
printf '%s\n' "$@" >"$job/options"; echo "$comment" >"$job/comment"; echo "$output" >"$job/output"; cp "$script" "$job/script"
array=${array%\%*}
for range in ${array//,/ }; do
    last=${range#*-}
    [ "$last" -lt "$(cat "$CLUSTER/max")" ] || { rm -r "$job"; echo "sbatch: error: Batch job submission failed: Invalid job array specification" >&2; exit 1; }
    # one file for a range, so that a thousand elements are quick
    echo "${range%-*} $last PENDING" >>"$job/ranges"
done
echo "$id"
S
stand_in squeue <<'S'
[ "$(cat "$CLUSTER/controller")" = up ] || { echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2; exit 1; }
for job in "$CLUSTER"/jobs/*; do
    [ -d "$job" ] || continue
    awk -v id="${job##*/}" -v comment="$(cat "$job/comment")" -v dir="$job/state" '
        FILENAME ~ /ranges$/ { for (i = $1; i <= $2; i++) state[i] = $3; next }
        { state[$1] = $2 }
        END { for (i in state) if (state[i] != "GONE") printf "%s|%s|%s|%s|%s|%s\n", id, i, state[i], state[i] == "PENDING" ? "Priority" : "None", state[i] == "PENDING" ? "" : "n1", comment }' "$job/ranges" <(cat "$job/changes" 2>/dev/null)
done
S
stand_in sacct <<'S'
[ "$(cat "$CLUSTER/accounting")" = on ] || { echo "Slurm accounting storage is disabled" >&2; exit 1; }
cat "$CLUSTER"/accounts/* 2>/dev/null
[ ! -e "$CLUSTER/late" ] || exit 0
# ended elements have accounts, too, unless 'account' says otherwise
for job in "$CLUSTER"/jobs/*; do
    awk -v id="${job##*/}" '
        FNR == NR { said[$1] = 1; next }
        FILENAME ~ /ranges$/ { for (i = $1; i <= $2; i++) state[i] = $3; next }
        { state[$1] = $2 }
        END { for (i in state) if (state[i] ~ /^(COMPLETED|FAILED|CANCELLED|TIMEOUT|DEADLINE|NODE_FAIL|BOOT_FAIL|PREEMPTED|OUT_OF_MEMORY)$/ && !((id "_" i) in said))
            printf "%s_%s|%s|0:0|1||n1\n", id, i, state[i] }' <(ls "$CLUSTER/accounts"; echo) "$job/ranges" <(cat "$job/changes" 2>/dev/null)
done
S
stand_in scancel <<'S'
for a; do job=${a%_*}; echo "${a#*_} CANCELLED" >>"$CLUSTER/jobs/$job/changes"; done
S

# play JOB [INDEX...]: runs elements (all without INDEX), one after the other, and gives them their state
play() {
    local job=$1 index last indices first
    shift
    indices=$*
    [ -n "$indices" ] || indices=$(awk '{ for (i = $1; i <= $2; i++) print i }' "$CLUSTER/jobs/$job/ranges")
    for index in $indices; do
        last=$(sed "s|%%|\x01|g; s|%a|$index|g; s|%[A-Za-z]|EXPANDED|g; s|\x01|%|g" "$CLUSTER/jobs/$job/output")
        if SLURM_JOB_ID=$((job * 1000 + index)) SLURM_ARRAY_JOB_ID=$job SLURM_ARRAY_TASK_ID=$index SLURM_JOB_PARTITION=p SLURMD_NODENAME=n1 \
            sh "$CLUSTER/jobs/$job/script" </dev/null >>"$last" 2>&1; then set_state "${job}_$index" COMPLETED; else set_state "${job}_$index" FAILED; fi
    done
}
set_state() { echo "${1#*_} $2" >>"$CLUSTER/jobs/${1%_*}/changes"; }
# account JOB_INDEX STATE [EXIT]: what sacct says
account() { printf '%s|%s|%s|61|1G|n1\n%s.batch|%s|%s|61|123456K|n1\n' "$1" "$2" "${3:-0:0}" "$1" "${2%% *}" "${3:-0:0}" >"$CLUSTER/accounts/$1"; }
slurm_folder() { echo "$PWD/.orch/results.db.d/slurm"; }
# a minute later: the kept answer is old
minute() { [ ! -f "$(slurm_folder)/answer.json" ] || sed -i 's/"asked_ns": *[0-9]*/"asked_ns":1/' "$(slurm_folder)/answer.json"; }
# the first answer without a job is long ago
long_ago() {
    minute
    python3 -c '
import json, sys
a = json.load(open(sys.argv[1])); a["absent"] = {k: 1000 + max(a["absent"].values(), default=0) - 3600 * 10**9 for k in a["absent"]}
json.dump(a, open(sys.argv[1], "w"))' "$(slurm_folder)/answer.json"
}
calls() { grep -c "^$1 " "$CLUSTER/calls"; }
