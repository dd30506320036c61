# Two builds in one folder wait for each other, a folder that cannot be written is named, and so is a missing compiler; a path may have blanks
# and umlauts.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir -p "stub" "süß tree/build" "süß tree/plugins/sleep" "süß tree/cmake"
stub() {
    cat >"stub/$1"
    chmod +x "stub/$1"
}
stub dpkg-query <<'S'
#!/bin/bash
for name; do [[ $name = "$GONE" || $name = [-\$]* ]] || echo "installed $name"; done
S
stub cmake <<<'#!/bin/sh
touch "$ORCH_BUILD_DIR/build.ninja" "$ORCH_BUILD_DIR/CMakeCache.txt"'
stub ninja <<'S'
#!/bin/sh
[ ! -e "$NOTES/running" ] || echo both >>"$NOTES/overlap"
touch "$NOTES/running"
echo "$2" >>"$NOTES/built"
while [ -e "$NOTES/wait" ]; do sleep 0.1; done
rm "$NOTES/running"
S
stub apt-get <<<'#!/bin/sh
echo "E: no network"; exit 100'
stub apt-cache <<<'#!/bin/sh
exit 1'
stub nvidia-smi <<<'#!/bin/sh
exit 9'
PATH=$PWD/stub:$PATH
cd "süß tree" || exit 1
cp "$SOURCE/build.sh" .
touch plugins/sleep/plugin.cmake
printf 'format: 1\nrecipe: r\nexperiments:\n  a: { plugin: sleep }\n' >'ä b.recipe'
printf '#!/bin/sh\necho "runs: $*"\n' >build/orch
chmod +x build/orch
export GONE= ORCH_BUILD_DIR=build NOTES=$SCRATCH
# a path with blanks and umlauts, of the tree, the recipe and the folder of the build
ok ./build.sh run 'ä b.recipe'
has 'runs: run ä b.recipe'
mkdir "$SCRATCH/bau ort"
cp build/orch "$SCRATCH/bau ort/orch"
ORCH_BUILD_DIR="$SCRATCH/bau ort" ok ./build.sh run 'ä b.recipe'
same "$(tail -n 1 "$SCRATCH/built")" "$SCRATCH/bau ort"
ORCH_BUILD_DIR="$SCRATCH/bau ort" ok ./build.sh run 'ä b.recipe'
rm orch

# two at once: the second one says that it waits, and builds when the first has ended
touch "$SCRATCH/wait"
./build.sh build >"$SCRATCH/one" 2>&1 &
await -e "$SCRATCH/running"
if command -v flock >/dev/null; then
    ./build.sh build >"$SCRATCH/two" 2>&1 &
    for _ in $(seq 100); do
        grep -q "another build.sh builds in 'build': waiting for its end" "$SCRATCH/two" && break
        sleep 0.1
    done
    rm "$SCRATCH/wait"
    wait
    [ ! -e "$SCRATCH/overlap" ] || _fail 'both built at the same time'
    grep -q 'waiting for its end' "$SCRATCH/two" || _fail "not said: $(<"$SCRATCH/two")"
    grep -q 'next: ' "$SCRATCH/two" || _fail 'the second one did not go on'
fi
rm -f "$SCRATCH/wait"
wait

# the script changes in place while it runs, as some editors do it: what began goes on as it was read
touch "$SCRATCH/wait"
cp build.sh "$SCRATCH/whole"
./build.sh build >"$SCRATCH/one" 2>&1 &
await -e "$SCRATCH/running"
head -c 2000 /dev/zero | tr '\0' ')' | cat "$SCRATCH/whole" - >build.sh
sed -i.x '2s/$/\n# ((((/' "$SCRATCH/whole"
cat "$SCRATCH/whole" >build.sh
rm "$SCRATCH/wait"
wait $! || _fail "it ended badly: $(<"$SCRATCH/one")"
grep -q 'next: ' "$SCRATCH/one" || _fail "it did not go on: $(<"$SCRATCH/one")"
! grep -q 'syntax error' "$SCRATCH/one" || _fail "it read the new text: $(<"$SCRATCH/one")"
cp "$SOURCE/build.sh" .

# no compiler and no network: which package, and what to do
GONE=gcc
fails 1 ./build.sh build
says 'apt-get install gcc'
says 'could not install'
GONE=

# places that cannot be written: a file in place of the folder serves root, too
touch "$SCRATCH/file"
export ORCH_BUILD_DIR=$SCRATCH/file/build
fails 1 ./build.sh build
says "cannot write into '$SCRATCH/file/build'. ORCH_BUILD_DIR=FOLDER builds somewhere else"
says_not 'No such file'
# only the clone: the program is in the build folder. Root may write anywhere
[ "$(id -u)" != 0 ] || exit 0
export ORCH_BUILD_DIR="$SCRATCH/bau ort"
rm -f orch
chmod -w .
ok ./build.sh run 'ä b.recipe'
has 'runs: run ä b.recipe'
rm "$ORCH_BUILD_DIR/.ready"
ok ./build.sh run 'ä b.recipe'
says "the clone cannot be written: the program is '$SCRATCH/bau ort/orch', and not './orch'"
chmod +w .
