# A user's program with the whole machine chooses its number of threads as by hand, and receives the variables that the
# user sets. A trial with a part of the machine receives the number of its threads.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
unset OMP_NUM_THREADS MKL_NUM_THREADS OPENBLAS_NUM_THREADS # nproc reads the first
all=$(nproc)
[ "$all" -ge 2 ] || skip 'it needs two CPUs'
show='echo "omp=${OMP_NUM_THREADS-unset} mkl=${MKL_NUM_THREADS-unset} blas=${OPENBLAS_NUM_THREADS-unset} orch=$ORCH_THREADS"; echo loss 1'
# threads EXPECTED OPTION...
threads() {
    local expected=$1
    shift
    ok orch try -q --force "$@" -- sh -c "$show"
    ok orch log @last
    has "$expected"
}
threads "omp=unset mkl=unset blas=unset orch=$all"
threads 'omp=1 mkl=1 blas=1 orch=1' --resources cores=1
OMP_NUM_THREADS=7 threads 'omp=7 mkl=1 blas=1' --resources cores=1
OMP_NUM_THREADS=1 threads "omp=1 mkl=unset blas=unset orch=$all"
# with -j a trial has a part of the machine
ok orch try -q --force -j "$all" -x n=1,2 -- sh -c "$show # {n}"
ok orch log @last
has "omp=$((all / all)) "
# what a trial is to hold is checked
fails 2 orch try --resources cores -- true
says "option '--resources': 'cores' is not KEY=VALUE"
fails 2 orch try --resources gpu=1 -- true
says "'gpu=1' is not KEY=VALUE with one of the keys"
fails 2 orch try --resources 'cores=1}' -- true
says "is not KEY=VALUE"
fails 2 orch try --resources cores=none -- true
says "cores"
