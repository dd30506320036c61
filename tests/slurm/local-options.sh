# Options that divide this machine's processors and GPUs are refused with Slurm. A part of a GPU, which Slurm does not
# divide, becomes a whole GPU with a notice. With stand-ins for Slurm's programs.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/slurm.sh"
recipe() { printf 'format: 1\nrecipe: a\nslurm: { partition: p }\nexperiments:\n  half: { plugin: sleep, with: { seconds: 0.1 }, repeat: 2%s }\n' "$1" >a.recipe; }
recipe ''
for option in --no-pin --oversubscribe; do
    fails 2 orch run a.recipe --executor slurm $option
    says "option '$option' cannot be combined with '--executor slurm'"
    says 'hint: Slurm'
done
[ ! -s "$CLUSTER/calls" ] || _fail 'Slurm was asked'
ok orch run a.recipe --executor slurm
says_not 'a whole one'
! grep -q gres "$CLUSTER/jobs/101/options" || _fail 'a GPU was asked for'
recipe ', resources: { gpus: 0.5 }'
ok orch run a.recipe --executor slurm --force
says "experiment 'half' uses 0.5 of a GPU, but each of its Slurm jobs asks for a whole GPU"
grep -qx -- '--gres=gpu:1' "$CLUSTER/jobs/102/options" || _fail "$(cat "$CLUSTER/jobs/102/options")"
