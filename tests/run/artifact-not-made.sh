# A trial that ends well without a file that it was to leave as an artifact is told of: a typing error in --artifact
# would keep nothing, and a file from an earlier run is not the trial's.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >t.sh <<'P'
mkdir -p out
[ "$1" = 0 ] || echo weights >out/best.pt
echo "acc 0.$1"
P
git add -A
git commit -qm one
ok orch try -x k=1,2 --artifact best=best.pt -- sh t.sh '{k}'
says "2 trials ended well without the artifact 'best': no file 'best.pt' was written ("
says 'lists the files that the run wrote'
ok orch try -x k=3,4 --artifact best=out/best.pt -- sh t.sh '{k}'
says_not 'without the artifact'
# the file of an earlier trial lies there
ok orch try -x k=0 --artifact best=out/best.pt --json -- sh t.sh '{k}'
same "$(json without_artifacts)" 1
says "1 trial ended well without the artifact 'best': no file 'out/best.pt' was written"
# a trial that failed has another fault
printf 'exit 3\n' >f.sh
fails 1 orch try --artifact best=best.pt -- sh f.sh
says_not 'without the artifact'
