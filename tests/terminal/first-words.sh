# 'orch' without arguments says what to type next in this folder: by its scripts, recipes and store, in a few lines and without a
# walk of the folder. It works in folders that cannot be read, with a store that is damaged and among 10,000 files.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
# words COMMAND: the line of the answer that begins with it
words() {
    grep -qF -- "  $1" <<<"$err" || _fail "no line: $1"
}
few() { [ "$(grep -c . <<<"$err")" -le 7 ] || _fail 'these are not a few lines'; }

# nothing: any program, or a first recipe
fails 2 orch
same "$out" '' 'the output'
words 'orch try -- COMMAND '
words 'orch init '
says "'orch help' lists all commands"
says_not 'orch run '
says_not 'orch best'
few
[ ! -e .orch ] || _fail 'it made a store'

# outside of a repository what it proposes leads to one store, too
mkdir "$SCRATCH/plain"
cd "$SCRATCH/plain"
export GIT_CEILING_DIRECTORIES=$SCRATCH
fails 2 orch
words 'orch init '
ok orch init
says 'not in a git repository'
fails 2 orch
words 'orch run first.recipe '
ok orch run first.recipe
fails 2 orch
words 'orch best slept_s '
ok orch best slept_s
cd "$SCRATCH/w"

# files that are no scripts, and scripts that are not started by hand
touch notes.txt setup.py conftest.py __init__.py utils.py test_model.py model.py .hidden.py data.csv
fails 2 orch
words 'orch try -- COMMAND '
says_not .py

# the script that trains comes first, whatever its place in the alphabet; the others are named
touch bench.sh main.py train.py eval.py train_utils.py
fails 2 orch
words 'orch try -- python3 train.py '
says 'also main.py'
says_not 'train_utils'
says_not 'COMMAND'
words 'orch init '
few
rm train.py
touch finetune-vit.py
fails 2 orch
words 'orch try -- python3 finetune-vit.py '
rm ./*.py bench.sh
# other languages, a program that was built, and names that a shell would change
touch fit.R
fails 2 orch
words 'orch try -- Rscript fit.R '
mv fit.R 'my train.py'
fails 2 orch
words "orch try -- python3 'my train.py' "
mv 'my train.py' ./-x.py
fails 2 orch
words 'orch try -- python3 ./-x.py '
rm ./-x.py
touch $'train\033[31m.py' 'train{lr}.py' $'train\xff.py'
fails 2 orch
words 'orch try -- COMMAND '
rm ./train*
printf '#!/bin/sh\n' >simulate
chmod +x simulate
fails 2 orch
words 'orch try -- ./simulate '
rm simulate
# none here: where scripts usually lie
mkdir src
touch src/train.py
fails 2 orch
words 'orch try -- python3 src/train.py '
# a folder of a script's name is none
mkdir train.py
fails 2 orch
words 'orch try -- python3 src/train.py '
rmdir train.py

# recipes: the one that was changed last
mkdir recipes
cd recipes
sleeps old '0.01'
sleeps new '0.01, 0.02'
cd ..
touch -d '2 days ago' recipes/old.recipe
fails 2 orch
words 'orch run recipes/new.recipe '
says 'also recipes/old.recipe'
says_not 'orch init'
few
touch -d '3 days ago' recipes/new.recipe
fails 2 orch
words 'orch run recipes/old.recipe '
cd recipes
fails 2 orch
words 'orch run old.recipe '
cd ..

# a store: what runs recorded
ok orch run recipes/new.recipe
fails 2 orch
words 'orch status '
words 'orch best slept_s '
words 'orch run recipes/old.recipe '
words 'orch try -- python3 src/train.py '
few
ok orch try -n -- true
printf 'print("steps", 3)\nprint("val_accuracy", 0.5)\n' >src/train.py
ok orch try -- python3 src/train.py
fails 2 orch
words 'orch best val_accuracy '
# what it proposes is a command that works
proposed=$(sed -n 's/^  \(orch best [^ ]*\) .*/\1/p' <<<"$err")
# shellcheck disable=SC2086
ok ${proposed:?}
has 0.5
# below the top of a repository the store is the same
mkdir -p deep/er
cd deep/er
fails 2 orch
words 'orch status '
cd ../..
# no run ended well
ORCH_DB=$SCRATCH/other.db ok orch init
rm recipes/first.recipe
ORCH_DB=$SCRATCH/other.db fails 2 orch
says_not 'orch best'
words 'orch ls '

# a damaged store is said, and where to look
cp .orch/results.db "$SCRATCH/kept"
for damage in 'not a database at all' ''; do
    printf '%s' "$damage" >.orch/results.db
    rm -f .orch/results.db-wal .orch/results.db-shm
    fails 2 orch
    words 'orch doctor '
    words 'orch run recipes/old.recipe '
    says_not 'orch best'
    says_not 'core dumped'
done
rm .orch/results.db
mkdir .orch/results.db
fails 2 orch
words 'orch run recipes/old.recipe '
rmdir .orch/results.db
cp "$SCRATCH/kept" .orch/results.db

# a folder that no longer exists, one that cannot be read, one that cannot be entered
mkdir "$SCRATCH/gone"
fails 3 bash -c 'cd "$1" && rmdir "$1" && exec orch' - "$SCRATCH/gone"
says 'no longer exists'
mkdir "$TMPDIR/locked"
touch "$TMPDIR/locked/train.py"
plain=
if [ "$(id -u)" = 0 ]; then
    plain='setpriv --reuid=65534 --regid=65534 --clear-groups'
    $plain test -x "$BUILD/orch" || plain=none
fi
if [ "$plain" != none ]; then
    for mode in 311 000; do
        chmod $mode "$TMPDIR/locked"
        cd "$TMPDIR/locked"
        _run env HOME="$TMPDIR" $plain "$BUILD/orch"
        cd "$SCRATCH/w"
        [ $status != 0 ] && [ $status -le 3 ] || _fail "status $status in a folder of mode $mode"
        says 'Permission denied'
        [ $mode = 000 ] || words 'orch try -- COMMAND '
    done
fi
chmod 755 "$TMPDIR/locked"
rm -r "$TMPDIR/locked"

# 10,000 files: the script is found, in milliseconds; folders below are not looked at
mkdir "$SCRATCH/many"
cd "$SCRATCH/many"
python3 -c '
for i in range(10000):
    open("img%05d.png" % i, "w").close()
open("train.py", "w").close()'
mkdir -p data/a/b src/deep
touch src/deep/train.py
strace -V >/dev/null 2>&1 && {
    strace -f -e trace=openat -o "$SCRATCH/trace" orch 2>/dev/null
    grep -q 'src/deep\|data' "$SCRATCH/trace" && _fail 'it looked into folders below'
}
ms=$(python3 -c '
import subprocess, time
def took():
    begin = time.perf_counter()
    subprocess.run(["orch"], stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin
print(int(1000 * min(took() for _ in range(5))))')
fails 2 orch
words 'orch try -- python3 train.py '
[ "$ms" -lt 200 ] || _fail "it took $ms ms"
