# An absolute symbolic link of the repository into itself leads a trial apart into its own copy.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
mkdir -p data sub/deep
echo 1 >data/d.txt
ln -s "$SCRATCH/w" "$SCRATCH/way"
ln -s "$SCRATCH/w/data" cur
ln -s "$SCRATCH/w/data/d.txt" sub/deep/file.txt
ln -s "$SCRATCH/way/data" sub/other
ln -s "$SCRATCH/w" sub/all
cat >a.py <<'P'
import sys
for way in ("cur", "sub/other", "sub/all/data"):
    open(way + "/" + way.replace("/", "-") + ".txt", "w").write("x")
    assert open(way + "/d.txt").read() == "1\n"
print("v", int(open("sub/deep/file.txt").read()))
open("sub/deep/file.txt", "w").write("2")
P
git add .
git commit -qm one
for kind in links mount; do
    export ORCH_APART=$kind
    ok orch try --frozen --force -- python3 a.py
    says '1 ok'
    says_not 'by this path a trial uses'
    same "$(ls data) $(cat data/d.txt)" 'd.txt 1' "the work tree, $kind"
done
