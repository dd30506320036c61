# './build.sh' prints its progress: on a terminal in a line that is rewritten, elsewhere in occasional lines. After a
# failure it names the files that could not be compiled, their first errors, and the log.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cp "$SOURCE/build.sh" .
mkdir stub build
stub() {
    cat >"stub/$1"
    chmod +x "stub/$1"
}
stub dpkg-query <<'S'
#!/bin/bash
for name; do [[ $name = "$GONE" || $name = [-\$]* ]] || echo "installed $name"; done
S
stub apt-get <<<'#!/bin/sh
echo "Unpacking some package"; sleep "$SECONDS_OF_APT"; exit "$APT"'
stub cmake <<<'#!/bin/sh
touch build/build.ninja build/CMakeCache.txt'
stub ninja <<'S'
#!/bin/sh
echo '[1/3] Building C object lib/a/CMakeFiles/orch_a.dir/a.c.o'
echo $$ >ninja.pid
[ "$SECONDS_OF_NINJA" != 60 ] || exec sleep 60
sleep "$SECONDS_OF_NINJA"
[ "$NINJA" = 0 ] && exit
cat <<E
[2/3] Building C object lib/b/CMakeFiles/orch_b.dir/b.c.o
FAILED: lib/b/CMakeFiles/orch_b.dir/b.c.o 
cc -Werror=vla -c $PWD/lib/b/b.c
$PWD/lib/b/b.c: In function 'f':
$PWD/lib/b/b.c:7:5: error: implicit declaration of function 'git_error_clear'
$PWD/lib/b/b.c:7:5: note: not of interest
$PWD/lib/b/b.c:9:5: error: a second one
[3/3] Linking C executable orch
FAILED: orch 
cc -o orch
/usr/bin/ld: main.c: undefined reference to 'g'
ninja: build stopped: cannot make progress due to previous errors.
E
exit 1
S
stub id <<<'#!/bin/sh
echo 0'
cp stub/cmake build/orch
PATH=$PWD/stub:$PATH
export GONE= APT=0 NINJA=0 SECONDS_OF_APT=0 SECONDS_OF_NINJA=3 ORCH_BUILD_DIR=build ORCH_BUILD_EVERY_S=1
# in a pipe: the log's name from the start, and a line now and then
ok ./build.sh build
says 'building (log: build.log)'
says 's, 1 of 3 steps (log: build.log)'
says 'built in '
says_not $'\r'
# on a terminal: one line that is rewritten
ok terminal ./build.sh build
has $'\r\033[Kbuilding: '
has 's, 1 of 3 steps (log: build.log)'
has_not 'building (log'
# a fault: which files, and the first errors of each
NINJA=1
SECONDS_OF_NINJA=0
fails 1 ./build.sh build
says 'failed: lib/b/b.c'
says "  lib/b/b.c:7:5: error: implicit declaration of function 'git_error_clear'"
says 'lib/b/b.c:9:5: error: a second one'
says "failed: orch"
says "ld: main.c: undefined reference to 'g'"
says_not 'not of interest'
says_not 'Werror'
says 'building failed; all of it is in build.log'
# what apt installs, and how long it took
NINJA=0 GONE=libgsl-dev SECONDS_OF_APT=3
ok ./build.sh build
says 'installing for the core: libgsl-dev'
says 'Unpacking some package (log: build-apt.log)'
says 'installed for the core in '
# a script that is killed leaves nothing that goes on talking
SECONDS_OF_NINJA=60 GONE=
./build.sh build >/dev/null 2>"$SCRATCH/err" &
main=$!
for _ in $(seq 300); do
    grep -q 'building: ' "$SCRATCH/err" && break
    sleep 0.1
done
kill -KILL "$main"
wait "$main" 2>/dev/null
kill "$(<ninja.pid)"
sleep 2
size=$(stat -c %s "$SCRATCH/err")
sleep 2
same "$(stat -c %s "$SCRATCH/err")" "$size" 'what was said after the end'
