#!/usr/bin/env bash
# Environments made by pip and by uv: a trial runs in the venv of its file. Needs a package index, and uv for its half.
# test: slow timeout=600
. "$ORCH_SOURCE_DIR/tests/cli/lib.sh"
PATH=${PATH#"$SCRATCH/bin:"} # venv needs the interpreter itself
[ -z "${ORCH_VALIDATORS:-}" ] || PATH=$PATH:$ORCH_VALIDATORS/bin # for uv
export TMPDIR=$SCRATCH PIP_RETRIES=0 PIP_DEFAULT_TIMEOUT=10
python3 -m venv "$SCRATCH/try" 2>"$SCRATCH/why" || skip "python3 -m venv does not work: $(head -1 "$SCRATCH/why")"
"$SCRATCH/try/bin/pip" download -q --no-deps -d "$SCRATCH/try" 'six==1.15.0' >"$SCRATCH/why" 2>&1 ||
    skip "no package index is reached: $(tail -1 "$SCRATCH/why")"
cat >mine.py <<'P'
import six
print("minor", six.__version__.split(".")[1])
P
recipe() { # recipe ENVIRONMENT
    cat >r.recipe <<R
format: 1
recipe: r
experiments:
  mine: { program: python3 mine.py, environment: $1 }
R
}
minor() {
    ok orch run r.recipe
    ok orch show @last --json
    same "$(of_json 'it["metrics"][0]["last"]')" "$1"
}
echo 'six==1.15.0' >requirements.txt
recipe '{ pip: requirements.txt }'
minor 15.0
same "$(json facts.environment.python)" "$(python3 -c 'import platform; print(platform.python_version())')"
# its lock file has what the environment has
ok orch checkout @last --environment lock
grep -q '^six==1.15.0' lock/requirements.txt
echo 'six==1.14.0' >requirements.txt
minor 14.0
echo 'six==0.0.0' >requirements.txt
fails 4 orch run r.recipe
says "cannot be made"

command -v uv >/dev/null || skip "uv is not here (ORCH_VALIDATORS=VENV with it); pip's half passed"
mkdir locked
printf '[project]\nname = "mine"\nversion = "0"\nrequires-python = ">=3.9"\ndependencies = ["six==1.13.0"]\n' >locked/pyproject.toml
ok uv lock -q --project locked
recipe '{ uv: locked/uv.lock }'
minor 13.0
