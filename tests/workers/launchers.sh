# The launcher of MPI ranks: srun inside of a Slurm allocation, otherwise mpirun of Open MPI or MPICH; without either
# the trial is skipped. A launcher that starts too few ranks or fails ends the trial with a message.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
plugin=$BUILD/tests/plugins/ranks.so
trust "$plugin"
printf 'format: 1\nrecipe: r\nexperiments:\n  r: { plugin: %s, resources: { ranks: 3, cores: 2 } }\n' "$plugin" >r.recipe
# a PATH without launchers
mkdir tools fake
for tool in sh bash env chmod rm id git cat sed awk grep sleep dirname basename gpg ssh-keygen python3; do
    at=$(command -v $tool) && ln -s "$at" "tools/$tool"
done
PATH=$BUILD:$PWD/fake:$PWD/tools
unset SLURM_JOB_ID SLURMD_NODENAME
# launcher NAME VERSION PREFIX...: starts its -n processes with the environment of its family
launcher() {
    cat >"fake/$1" <<L
#!$(command -v bash)
[ "\$1" = --version ] && { echo "$2"; exit 0; }
echo "\$(basename "\$0") \$*" >"$PWD/command"
while [ "\$1" != -n ]; do shift; done
count=\$2; shift 2; status=0; i=0; pids=
while [ \$i -lt \${STARTED:-\$count} ]; do
    env $3=\$i $4=\$count $5=\$i "\$@" & pids="\$pids \$!"
    i=\$((i + 1))
done
for pid in \$pids; do wait \$pid || status=\$?; done
exit \${STATUS:-\$status}
L
    chmod +x "fake/$1"
}
last() {
    _run orch run r.recipe --force -q
    ok orch show @last --json
    same "$(json state)" "$1" states
    case "$(json reason)" in *"$2"*) ;; *) _fail "the reason is: $(json reason)" ;; esac
}
at() { python3 -c 'import json, sys; print(int(json.load(sys.stdin)["results"][sys.argv[1]]))' "$1" <<<"$out"; }

# none: the plan says so beforehand, and nothing is started
ok orch plan r.recipe
has 'skipped'
has 'no mpirun on the PATH: install Open MPI'
has 'openmpi-bin'
ok orch plan r.recipe --json
same "$(json trials.0.state)" skipped
same "$(json left)" 0
_run orch run r.recipe
says 'no mpirun on the PATH'
ok orch ls --json
same "$(json runs.#)" 0
# Open MPI
launcher mpirun 'mpirun (Open MPI) 4.1.4' OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK
last ok null
same "$(at ranks)" 3 ranks
same "$(at threads)" 1 threads
grep -q -- '--oversubscribe --bind-to none .*-n 3 .*orch-host --rank' command || _fail "$(cat command)"
[ "$(id -u)" != 0 ] || grep -q -- '--allow-run-as-root' command || _fail "$(cat command)"
ok orch show @last
has 'rank 2: is 2 of 3, local 2'
has 'is 0 of 3, local 0'
# what an outer MPI job left in the environment does not reach the ranks
export OMPI_COMM_WORLD_RANK=7 OMPI_COMM_WORLD_SIZE=9 PMI_RANK=8 PMI_SIZE=9
# MPICH
launcher mpirun 'HYDRA build details:' PMI_RANK PMI_SIZE MPI_LOCALRANKID
last ok null
same "$(at ranks)" 3 ranks
same "$(sed 's/ [^ ]*orch-host/ orch-host/' command)" 'mpirun -n 3 orch-host --rank' 'commands'
# Slurm: srun, if it is there
export SLURM_JOB_ID=17 SLURMD_NODENAME=node3
rm command
last ok null
grep -q '^mpirun' command || _fail 'srun is not there: mpirun'
launcher srun '' SLURM_PROCID SLURM_NTASKS SLURM_LOCALID
last ok null
same "$(at ranks)" 3 ranks
same "$(sed 's/ [^ ]*orch-host/ orch-host/' command)" \
    'srun --nodes=1 --overlap --kill-on-bad-exit=1 --cpu-bind=none --nodelist=node3 -n 3 orch-host --rank' 'commands'
unset SLURM_JOB_ID
rm command
last ok null
grep -q '^mpirun' command || _fail 'no allocation: mpirun'
# it ends before all ranks have started; it starts none; it says nothing of ranks; it ends badly after they ended well
export STATUS=4 STARTED=0
last failed 'its launcher ended with exit status 4 when 0 of 3 ranks had started'
export STATUS=0 STARTED=0
last protocol-error 'its launcher started 0 of 3 ranks'
export STATUS=0 STARTED=2
last protocol-error 'its launcher started 2 of 3 ranks'
unset STARTED
export STATUS=5
last failed 'its launcher ended with exit status 5 although every rank ended well'
unset STATUS
launcher mpirun 'HYDRA' NOTHING NOTHING NOTHING
last failed 'when 0 of 3 ranks had started'
ok orch log @last
out=$out$err
has 'PMI_RANK'
# not a program
printf '#!/nowhere\n' >fake/mpirun
last failed "cannot start '"
# started by hand
fails 1 orch-host --rank
says 'only mpirun or srun may start this program'
