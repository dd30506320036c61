# Invalid remotes, a shared folder on a full disk and sources that cannot be shared give an error with the reason, and
# nothing is left half done.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_USER=ada
# small CMD...: no file can grow beyond 1 MiB, as on a disk that is full
small() { python3 -c '
import os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
os.execvp(sys.argv[1], sys.argv[1:])' "$@"; }
cat >make.plugin <<'Y'
plugin: make
command: [sh, make.sh]
metrics_from: lines
metrics: { size: {} }
artifacts: { noise: { path: noise.bin } }
Y
echo 'head -c 2000000 /dev/urandom >noise.bin; echo size=2' >make.sh
printf 'format: 1\nrecipe: r\nexperiments: { make: { plugin: ./make.plugin, inputs: [make.sh, data] } }\n' >r.recipe
mkdir data
echo 1 >data/one
git add -A
git commit -qm first
ok orch run r.recipe -q

# names that no remote has
fails 2 orch push -- ''
says "'' is not a valid remote name"
fails 2 orch push -- -x
says "'-x' is not a valid remote name"
fails 3 orch push 'a b'
says "there is no remote or folder 'a b'"
echo text >file
fails 3 orch push ./file
says "file' is a file, not a remote"
says 'orch db merge FILE'
git remote add origin /nonexistent/hub.git
fails 3 orch push
says "cannot fetch from 'origin': there is no git repository"

# a shared folder that is full: no part stays behind, and the same command goes on later
share=$SCRATCH/share
mkdir "$share"
fails 3 small orch push "$share"
says 'File too large'
says "$share"
same "$(ls -A "$share")" '' 'left in the folder'
ok orch push "$share"
says 'sent to'
same "$(ls -A "$share" | wc -l)" 1
# who pulls on a full disk gets the run later, whole
mkdir "$SCRATCH/bob"
cd "$SCRATCH/bob"
git init -q -b main .
export ORCH_USER=bob
_run small orch pull "$share"
[ $status != 0 ] || _fail 'a full disk is not noticed'
says 'File too large'
[ ! -e .orch/results.db ] || ok orch db check
ok orch pull "$share"
ok orch ls --json
same "$(json runs.#)" 1
orch show "$(json runs.0.key)" -a noise >"$SCRATCH/noise" || _fail "no noise"
same "$(stat -c %s "$SCRATCH/noise")" 2000000
ok orch db check
# the folder is gone, or was one
rm -r "$share"
fails 3 orch pull "$share"
says "there is no git repository and no folder '$share'"

# sources that are not shared say why
cd "$SCRATCH/w"
export ORCH_USER=ada
git init -q --bare -b main "$SCRATCH/hub.git"
git remote set-url origin "$SCRATCH/hub.git"
ln -s one data/link
git add -A
git commit -qm link
ok orch run r.recipe -q
ok orch push --with-source
says 'stays: data/link (not a plain file)'
says 'source: data/one (2 B)'
for i in 1 2 3 4 5 6; do truncate -s 9M "data/zeros$i"; done
git add -A
git commit -qm zeros
ok orch run r.recipe -q
fails 3 orch push --with-source
says 'cannot be shared: it is a source larger than 50 MiB'
says "push without '--with-source'"
ok orch push
says '1 run'
exit 0
