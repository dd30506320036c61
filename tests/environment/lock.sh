#!/usr/bin/env bash
# 'orch checkout RUN --environment' writes lock files of what a run had installed. The environment is a folder that
# looks like conda's and the answer of the package index comes from a program in uv's place.
# test: quick
. "$ORCH_SOURCE_DIR/tests/cli/lib.sh"
env=$SCRATCH/env
site=$env/lib/python3.11/site-packages
mkdir -p "$env/bin" "$env/conda-meta" "$site" "$env/include/python3.11"
cp "$(type -P true)" "$env/bin/python3.11"
echo '#define PY_VERSION "3.11.7"' >"$env/include/python3.11/patchlevel.h"
mkdir "$site/six-1.16.0.dist-info" "$site/torch-2.5.1+cu121.dist-info" "$site/numpy-1.24.2.dist-info" "$site/mine-0.1.dist-info"
echo '{"url": "https://conda.example.org/numpy-1.24.2-py311_0.conda", "md5": "0123456789abcdef0123456789abcdef"}' >"$env/conda-meta/numpy-1.24.2-py311_0.json"
cat >"$SCRATCH/bin/uv" <<'S'
#!/bin/sh
while [ $# -gt 1 ]; do
    [ "$1" != -o ] || to=$2
    [ "$1" != --python-version ] || version=$2
    shift
done
[ "$version" = 3.11 ] || { echo "version $version" >&2; exit 2; }
! grep -q '^mine==0.1$' "$1" || { echo 'because mine was not found and you require mine==0.1, we stop' >&2; exit 1; }
sed 's/$/ --hash=sha256:0a/' "$1" >"$to"
S
chmod +x "$SCRATCH/bin/uv"
echo 'x = 1' >a.py
ok orch try -q -- "$env/bin/python3.11" a.py
ok orch checkout @last --environment lock
has "lock/requirements.txt"
has "lock/conda.txt"
says "2 packages have no digest"
same "$(grep -v '^#' lock/requirements.txt)" 'six==1.16.0 --hash=sha256:0a'
grep -q 'Python 3.11.7: .*--require-hashes' lock/requirements.txt
same "$(grep -v '^#' lock/requirements-other.txt | sort)" 'mine==0.1
torch==2.5.1+cu121'
same "$(grep -v '^#' lock/conda.txt)" '@EXPLICIT
https://conda.example.org/numpy-1.24.2-py311_0.conda#0123456789abcdef0123456789abcdef'
if [ -e /var/lib/dpkg/status ]; then
    grep -q '^libc6:[a-z0-9]*=[0-9]' lock/apt.txt
fi
# what is there is not replaced; the source of the run is as before
fails 2 orch checkout @last --environment lock
says "name a folder that is empty"
ok orch checkout @last then
[ -f then/a.py ]

# without an index the versions are written, and it is said why they have no digests
printf '#!/bin/sh\necho "error: could not connect" >&2\nexit 2\n' >"$SCRATCH/bin/uv"
printf '#!/bin/sh\nexit 1\n' >"$SCRATCH/bin/python3"
ok orch checkout --json @last --environment versions
same "$(json why)" 'error: could not connect'
same "$(json python)" 3.11.7
says "hint: run 'pip install uv'"
same "$(grep -v '^#' versions/requirements.txt)" 'mine==0.1
six==1.16.0'

# a run of somebody else, whose lists are elsewhere
rm -r .orch/*.d/environments
fails 2 orch checkout @last --environment nothing
says "is not on this machine"
[ ! -e nothing ]
