# A store owns only its folder FILE.d. Folders of a project with the same names, entries with foreign names and targets
# of links are neither read nor removed.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
sleeps naps 0.01
# --db results.db in a project that has such folders itself
mkdir -p trials/mine checkpoints/mine work/mine objects/ab
for i in trials checkpoints work; do echo precious >$i/mine/file; done
echo precious >objects/ab/mine
touch -d '3 days ago' trials/mine checkpoints/mine work/mine objects/ab/mine
before=$(find trials checkpoints work objects | sort)
ok orch run naps.recipe --db results.db
ok orch gc --db results.db
ok orch run naps.recipe --db results.db
same "$(find trials checkpoints work objects | sort)" "$before" 'the folders of the project'
[ -f results.db.d/orch-store ] && [ -d results.db.d/trials ] || _fail 'the store has no folder of its own'
git add -A && ! git status --short | grep -q results.db.d || _fail 'the folder of the store is not ignored'
# one rule for every name
ok orch run naps.recipe
[ -f .orch/results.db.d/orch-store ] && [ "$(cat .orch/.gitignore)" = '*' ] || _fail 'no .orch/results.db.d'
# foreign names and links within the store's folder
d=.orch/results.db.d
mkdir -p $d/trials/mine $d/checkpoints/mine $d/work/mine "$SCRATCH/victim/sub"
echo precious >"$SCRATCH/victim/sub/file"
key=01890000-0000-7000-8000-000000000001 print=$(printf '%064d' 7) tree=$(printf '%040d' 7)
for name in trials/$key checkpoints/$print work/$tree; do
    ln -s "$SCRATCH/victim" $d/$name
    touch -h -d '3 days ago' $d/$name
    touch -d '3 days ago' $d/${name%/*}/mine
done
ok orch gc
ok orch run naps.recipe
for name in trials/mine checkpoints/mine work/mine; do [ -d $d/$name ] || _fail "$name is gone"; done
[ -f "$SCRATCH/victim/sub/file" ] || _fail 'removed what lay behind a link'
[ ! -L $d/trials/$key ] || _fail 'the link itself should have gone'
# the folders themselves as links
for name in trials checkpoints work objects; do
    rm -rf $d/$name
    mkdir -p "$SCRATCH/$name/$key"
    ln -s "$SCRATCH/$name" $d/$name
done
touch -d '3 days ago' "$SCRATCH"/*/$key
ok orch gc
fails 3 orch run naps.recipe --force
says 'symbolic link'
says 'hint: remove the link'
for name in trials checkpoints work objects; do
    [ -d "$SCRATCH/$name/$key" ] || _fail "$name was emptied through a link"
    rm $d/$name
done
ok orch run naps.recipe --force
# a FILE.d that is somebody else's
mkdir theirs.db.d
echo precious >theirs.db.d/file
fails 3 orch run naps.recipe --db theirs.db
says "its folder '$PWD/theirs.db.d' was not made by orch"
says 'hint: mv '
same "$(ls theirs.db.d)" file
mv theirs.db.d theirs.db.d.kept
ok orch run naps.recipe --db theirs.db
ln -s "$PWD/theirs.db.d" linked.db.d
fails 3 orch run naps.recipe --db linked.db
says 'was not made by orch'
# the database of another store in this one's place
cp results.db .orch/other.db
cp -r .orch/results.db.d .orch/other.db.d
fails 3 orch gc --db .orch/other.db
says 'belongs to another store'
says 'orch db adopt'
