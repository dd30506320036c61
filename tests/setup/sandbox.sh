# tests/sandbox.sh gives every test its own folders and fails a test that leaves temporary files. tests/leftovers.sh
# fails when the tests changed the clone, the home or a folder for temporary files.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir home tmp
export HOME=$PWD/home TMPDIR=$PWD/tmp ORCH_TEST_FOLDER=$PWD/tmp
sandbox() { bash "$SOURCE/tests/sandbox.sh" "$@"; }
ok sandbox sh -c 'echo "$HOME $TMPDIR $ORCH_SLOTS"; touch "$HOME/x"; [ -w "$TMPDIR" ] && [ -z "$XDG_CACHE_HOME$ORCH_USER" ]'
case $out in "$PWD/tmp/orch-ctest-"*/home\ "$PWD/tmp/orch-ctest-"*/tmp\ off) ;; *) _fail 'the folders of a test' ;; esac
fails 1 sandbox sh -c 'touch "$TMPDIR/left-behind"'
has 'FAILED: the test left temporary files:'
has 'left-behind'
fails 77 sandbox sh -c 'mkdir "$TMPDIR/a"; exit 77'
fails 3 sandbox sh -c 'exit 3'
fails 139 sandbox sh -c 'kill -s SEGV $$'
same "$(ls -A tmp home)" "$(printf 'home:\n\ntmp:')" 'what the sandbox leaves'
# around a whole run
mkdir -p clone/build clone/.orch
echo a >clone/a.c
echo b >clone/.orch/results.db
git -C clone init -q
git -C clone add a.c
git -C clone commit -qm first
export ORCH_LEFTOVERS_IN="$PWD/tmp"
unset ORCH_LOOK_AT_CLONE # which ./build.sh test sets
around() {               # around COMMAND: what the second look says of what COMMAND does in between
    ok bash "$SOURCE/tests/leftovers.sh" before "$PWD/clone" "$PWD/clone/build"
    eval "$1"
    _run bash "$SOURCE/tests/leftovers.sh" after "$PWD/clone" "$PWD/clone/build"
}
around 'echo x >clone/build/x; echo >tmp/another; mkdir tmp/orch-ctest-1-abc; mkdir -p home/.cache/others'
same $status 0
around 'mkdir tmp/orch-ctest-999999999-abc'
same $status 0
[ ! -e tmp/orch-ctest-999999999-abc ] || _fail 'not swept'
around 'echo x >clone/new; echo y >>clone/a.c; rm -r tmp/orch-ctest-1-abc'
same $status 0 # not './build.sh test': somebody may be writing
rm clone/new
git -C clone checkout -q a.c
export ORCH_LOOK_AT_CLONE=1
unset CI # somebody may be typing orch
around 'echo x >clone/new'
same $status 0
has 'noticed, by a test or by you'
rm clone/new
export CI=true
mkdir tmp/orch-of-another
around 'rmdir tmp/orch-of-another'
same $status 0
around 'echo x >clone/new'
same $status 1
has 'left or changed: ./new'
rm clone/new
around 'echo y >>clone/a.c'
same $status 1
has 'a.c (differs from the commit)'
git -C clone checkout -q a.c
around 'echo more >>clone/.orch/results.db'
same $status 1
has 'changed: ./.orch/results.db 7 bytes'
unset ORCH_LOOK_AT_CLONE
around 'mkdir -p home/.config/orch; echo y >home/.config/orch/trusted'
same $status 1
has 'home/.config/orch/trusted'
around 'mkdir tmp/orch-vcs-abc'
same $status 1
has 'tmp/orch-vcs-abc'
around 'rm -r clone/.orch'
same $status 1
has 'gone or changed: ./.orch'
