# An MPI trial inside of a Slurm job with a real slurmd: two ranks start in the allocation, the node's environment is
# recorded, and a killed rank ends the trial with its number.
# test: slow timeout=900 cost=600
. "$(dirname "$0")/../cli/lib.sh"
plugin=$BUILD/tests/mpi/mpi_sum.so
[ -e "$plugin" ] || skip 'built without MPI (libopenmpi-dev, openmpi-bin)'
command -v mpirun >/dev/null || skip 'no mpirun on the PATH'
. "$(dirname "$0")/slurm_cluster.sh"
trust "$plugin"
start_cluster
srun --mpi=list 2>&1 | grep -q pmix || skip 'srun has no PMIx'
cat >sum.recipe <<R
format: 1
recipe: sum
slurm: { partition: p, time: 5min, margin: 10s, memory: 800MB, setup: ["export LOADEDMODULES=cuda/12.4:mpi SLURM_MPI_TYPE=pmix"] }
experiments:
  sum: { plugin: $plugin, with: { workers: 2 }, timeout: 60s }
  dies: { plugin: $plugin, with: { workers: 2, end: signal, who: 1 }, timeout: 60s }
R
ok orch run sum.recipe --executor slurm --json
same "$(json submitted)" 2
case $(json arrays.0.options) in *--ntasks=2*) ;; *) _fail 'the job has not two tasks' ;; esac
jobs=$(json arrays.0.job)
[ -z "$(json arrays.1.job 2>/dev/null)" ] || jobs=$jobs,$(json arrays.1.job)
until_ok 60 'the jobs have ended' gone "$jobs"
ask
ok orch collect --json
same "$(states)" 'crashed ok'
ok orch ls -e dies --json
ok orch show "$(json runs.0.key)" --json
same "$(json reason)" 'rank 1 was killed by signal 9 (SIGKILL)'
ok orch ls -e sum --json
ok orch show "$(json runs.0.key)" --json
same "$(json facts.slurm.environment.SLURM_NTASKS)/$(json facts.slurm.modules)" 2/cuda/12.4:mpi
nothing_left
