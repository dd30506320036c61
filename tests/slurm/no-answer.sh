# Slurm programs that do not answer or print without end do not block orch. Reading commands use the last known states
# and say so. A job whose number sbatch did not print is found by its comment or folder; otherwise its trials stay
# claimed until Slurm lists it.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm.sh"
export ORCH_PROGRAM_TIMEOUT=1
sleeps n 0.01,0.02
real() { cp "$SCRATCH/slurm-bin/$1" "$SCRATCH/slurm-bin/$1.real"; }
for name in sbatch squeue sacct scontrol scancel; do real $name; done
instead() { {
    echo '#!/bin/bash'
    cat
} >"$SCRATCH/slurm-bin/$1"; }
again() { cp "$SCRATCH/slurm-bin/$1.real" "$SCRATCH/slurm-bin/$1"; }
quick() {
    local want=$1
    shift
    fails "$want" timeout -k 1 100 "$@"
}
jobs() { ls "$CLUSTER/jobs" | wc -l; }
# banners around the number, and a cluster's name behind it
instead sbatch <<'S'
printf -- '-----\n   Welcome to the Cluster3 Supercomputer\n12 users\n-----\n--> Verifying valid submit host (login4)...OK\n'
id=$("$0.real" "$@") || exit
printf '%s;cluster3\nAllocation: 4711 hours left\n\n' "$id"
S
ok orch run n.recipe --executor slurm
says 'submitted 2 trials'
same "$(jobs)" 1
ok orch ls
play 101 >/dev/null
minute
ok orch collect
ok orch ls --json
same "$(json runs.#)" 2
# no number at all: by its comment
instead sbatch <<'S'
"$0.real" "$@" >/dev/null && echo 'Submitted. Have a nice day.'
S
ok orch run n.recipe --executor slurm --force
says 'submitted 2 trials'
same "$(jobs)" 2
same "$(calls scancel)" 0
play 102 >/dev/null
minute
ok orch collect
ok orch ls --json
same "$(json runs.#)" 4
# it hangs after it has submitted: also by its comment, or by its folder where a site replaces comments
instead sbatch <<'S'
"$0.real" "$@" >/dev/null; exec sleep 600
S
quick 0 orch run n.recipe --executor slurm --force
says 'submitted 2 trials'
same "$(jobs)" 3
play 103 >/dev/null
minute
ok orch collect
instead squeue <<'S'
case "$*" in *%Z*) for job in "$CLUSTER"/jobs/*; do echo "${job##*/}|$(sed -n 's/^--chdir=//p' "$job/options")"; done; exit ;; esac
"$0.real" "$@" | sed 's/|[^|]*$/|replaced by the site/'
S
quick 0 orch run n.recipe --executor slurm --force
says 'submitted 2 trials'
same "$(jobs)" 4
again squeue
play 104 >/dev/null
minute
ok orch collect
ok orch ls --json
same "$(json runs.#)" 8
# nothing shows it yet: the trials stay claimed, and the job is found later
instead squeue <<'S'
exec sleep 600
S
quick 3 orch run n.recipe --executor slurm --force
says 'it is not known whether Slurm accepted the job'
says "run 'orch collect' later"
says_not refused
same "$(jobs)" 5
again squeue
again sbatch
minute
play 105 >/dev/null
ok orch collect
ok orch ls --json
same "$(json runs.#)" 10
# refused, although it says so only at last
instead sbatch <<'S'
echo 'sbatch: error: Batch job submission failed: Invalid qos specification' >&2; exit 1
S
fails 3 orch run n.recipe --executor slurm --force
says 'sbatch refused the trials: Batch job submission failed: Invalid qos'
again sbatch
# squeue hangs, or floods: what was known is shown, and it is said once
ok orch run n.recipe --executor slurm --force
for how in 'exec sleep 600' 'exec yes' 'exec yes >&2'; do
    instead squeue <<<"$how"
    for command in 'ls' 'status --offline' 'collect'; do
        minute
        _run timeout -k 1 100 orch $command
        [ $status -lt 124 ] || _fail "$how: orch $command"
        says "'squeue'"
        [ "$(grep -c "'squeue'" <<<"$err")" -le 1 ] || _fail "said more than once: $how: orch $command"
    done
done
again squeue
# sacct hangs: the accounts are late, not absent
instead sacct <<'S'
exec sleep 600
S
play 106 >/dev/null
minute
quick 0 orch ls
again sacct
minute
ok orch collect
minute
ok orch ls --json
same "$(json runs.#)" 12
# the rest
instead scontrol <<'S'
exec sleep 600
S
quick 3 orch run n.recipe --executor slurm --force
says "'scontrol' gave no answer within 1 s"
again scontrol
ok orch run n.recipe --executor slurm --force
instead scancel <<'S'
exec sleep 600
S
_run timeout -k 1 100 orch cancel --all
[ $status -lt 124 ] || _fail 'orch cancel hangs'
says "'scancel' gave no answer within 1 s"
