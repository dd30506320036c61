#!/usr/bin/env bash
# 'environment:' of an experiment: its trials run in it, its digest identifies them, and what is absent is a clear error.
# Programs in the place of uv and podman do what these would.
# test: slow
. "$ORCH_SOURCE_DIR/tests/cli/lib.sh"
cat >"$SCRATCH/bin/uv" <<'S'
#!/bin/sh
[ "$1 $3 $4 $5" = "sync --frozen --no-install-project --project" ] || exit 2
! grep -q broken "$6/uv.lock" || { echo 'error: no such package' >&2; exit 1; }
mkdir -p "$UV_PROJECT_ENVIRONMENT/bin"
cp "$(command -v sh)" "$UV_PROJECT_ENVIRONMENT/bin/python"
printf '#!/bin/sh\necho "score %s"\necho "venv $VIRTUAL_ENV"\n' "$(cat "$6/uv.lock")" >"$UV_PROJECT_ENVIRONMENT/bin/mytool"
chmod +x "$UV_PROJECT_ENVIRONMENT/bin/mytool"
S
chmod +x "$SCRATCH/bin/uv"
echo 3 >uv.lock
: >pyproject.toml
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  mine:
    program: mytool
    environment: { uv: uv.lock }
    keep: []
R
sed -i '/keep:/d' r.recipe
ok orch run r.recipe
says "making the environment 'uv.lock'"
ok orch show @last --json
same "$(of_json 'it["metrics"][0]["last"]')" 3.0
same "$(of_json 'it["facts"]["declared_environment"]["from"]')" uv.lock
digest=$(json facts.declared_environment.digest)
ok orch show @last
has "uv uv.lock, ${digest:0:12}"
ok orch log @last
has "venv $XDG_CACHE_HOME/orch/environments/uv-${digest:0:20}"

# the same file: nothing to do, and the environment is not made again
ok orch run r.recipe
says "nothing to run"
says_not "making the environment"
# another one: another trial; the first one comes back with its file
echo 4 >uv.lock
ok orch run r.recipe
ok orch show @last --json
same "$(of_json 'it["metrics"][0]["last"]')" 4.0
[ "$(json facts.declared_environment.digest)" != "$digest" ]
echo 3 >uv.lock
ok orch run r.recipe
says "nothing to run"

# what cannot be made leaves nothing, and says why and what to do
echo broken >uv.lock
fails 4 orch run r.recipe
says "environment 'uv.lock' of experiment 'mine' cannot be made: uv: error: no such package"
says_not 'pip install uv'
same "$(ls "$XDG_CACHE_HOME/orch/environments" | grep -cv lock)" 2
rm pyproject.toml
fails 4 orch run r.recipe
says "has no file 'pyproject.toml'"
rm "$SCRATCH/bin/uv"
mkdir "$SCRATCH/few"
for name in sh git env dirname basename uname; do
    ln -s "$(type -P $name)" "$SCRATCH/few/$name"
done
image=lab/image@sha256:1111111111111111111111111111111111111111111111111111111111111111
echo six >r.txt
echo 'dependencies: [python]' >env.yml
lacks() { # lacks ENVIRONMENT PROGRAMS HINT: none of the programs is here
    sed "s|environment:.*|environment: { $1 }|" r.recipe >lacks.recipe
    fails 4 env PATH="$BUILD:$SCRATCH/few" orch run lacks.recipe
    says "needs $2, which is not on the PATH"
    says "hint: $3"
}
lacks 'uv: uv.lock' uv 'pip install uv'
lacks 'pip: r.txt' python3 'apt-get install python3-venv'
lacks 'conda: env.yml' 'conda or micromamba' 'install conda or micromamba'
lacks "container: $image" 'podman or docker' 'apt-get install podman'
# conda's file is made by the one of both programs that is here
cat >"$SCRATCH/few/micromamba" <<'S'
#!/bin/sh
[ "$1 $2 $3 $4 $6" = "create --quiet --yes -p -f" ] && [ -s "$7" ] && mkdir -p "$5/bin" "$5/conda-meta" || exit 2
printf '#!/bin/sh\n' >"$5/bin/python"
printf '#!/bin/sh\necho "score 6"\n' >"$5/bin/mytool"
chmod +x "$5/bin/python" "$5/bin/mytool"
echo '{"url": "https://conda.example.org/six-1.16.0-py_0.conda", "md5": "0123456789abcdef0123456789abcdef"}' >"$5/conda-meta/six-1.16.0-py_0.json"
S
for name in mkdir chmod; do
    ln -s "$(type -P $name)" "$SCRATCH/few/$name"
done
chmod +x "$SCRATCH/few/micromamba"
sed 's|environment:.*|environment: { conda: env.yml }|' r.recipe >conda.recipe
ok env PATH="$BUILD:$SCRATCH/few" orch run conda.recipe
ok orch show @last --json
same "$(of_json 'it["metrics"][0]["last"]')" 6.0
ok orch checkout @last --environment lock
same "$(tail -1 lock/conda.txt)" 'https://conda.example.org/six-1.16.0-py_0.conda#0123456789abcdef0123456789abcdef'
rm uv.lock
fails 2 orch plan r.recipe
says "r.recipe:6:24"

refuses() { # refuses ENVIRONMENT TEXT
    sed "s|environment:.*|environment: $1|" r.recipe >bad.recipe
    fails 2 orch check bad.recipe
    says "$2"
}
refuses '{ container: debian }' "has no digest"
refuses '{ container: debian@sha256:12 }' "has no digest"
refuses '{ pip: r.txt, uv: uv.lock }' "takes one of"
refuses '{}' "takes one of"
refuses '{ poetry: poetry.lock }' "unknown key 'poetry'"
refuses 'uv.lock' "'environment'"
cat >compiled.recipe <<'R'
format: 1
recipe: c
experiments:
  mine: { plugin: sleep, environment: { container: "debian@sha256:0000000000000000000000000000000000000000000000000000000000000000" } }
R
fails 2 orch check compiled.recipe
says "whose trials run a program"

# a container: its trial's command follows the image, with the variables and folders of the trial
cat >"$SCRATCH/bin/podman" <<'S'
#!/bin/sh
echo "$@" >>podman.log
[ "$1" = run ] || { [ "$1" = pull ]; exit; }
while [ "${1#lab/}" = "$1" ]; do shift; done
shift
exec "$@"
S
chmod +x "$SCRATCH/bin/podman"
sed "s|environment:.*|environment: { container: $image }|; s|mytool|sh -c 'echo score \$ORCH_SEED'|" r.recipe >c.recipe
sed -i "s|program:.*|program: [sh, -c, 'echo score 5']|" c.recipe
ok orch run c.recipe
says "fetching the image '$image'"
ok orch show @last --json
same "$(of_json 'it["metrics"][0]["last"]')" 5.0
same "$(of_json 'it["facts"]["environment"]["container"]')" "${image#*:}"
grep -q -- "^pull --quiet $image$" podman.log
grep -q -- "^run --rm --init --preserve-fds=1 .*--volume $PWD:$PWD .*--env ORCH_SEED .*$image sh -c echo score 5$" podman.log
