# The adapter's own loops (batch norms, updates) run in LibTorch's threads: they are compiled with OpenMP, and linked with the
# runtime that LibTorch needs and no other.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
adapter=$BUILD/plugins/common/orch-torch.so
[ -e "$adapter" ] || skip 'built without LibTorch'
runtimes() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(lib[gi]*omp[-.0-9a-z]*\.so[.0-9]*\)\].*/\1/p'; }
libtorch=$(ldd "$adapter" | sed -n 's/.*libtorch_cpu\.so[.0-9]* => \([^ ]*\).*/\1/p')
wanted=$(runtimes "$libtorch")
[ -n "$wanted" ] || skip "LibTorch's threads are not OpenMP's"
same "$(runtimes "$adapter")" "$wanted" "the runtime that LibTorch needs"
nm -D "$adapter" >symbols
grep -Eq ' U (GOMP_parallel|__kmpc_fork_call)' symbols || _fail "no loop of the adapter's is shared by threads"
