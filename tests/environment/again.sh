#!/usr/bin/env bash
# An environment that is made again from a run's lock file, in a fresh venv, gives the run's result. Needs a package index.
# test: slow timeout=600
. "$ORCH_SOURCE_DIR/tests/cli/lib.sh"
PATH=${PATH#"$SCRATCH/bin:"} # venv needs the interpreter itself
[ -z "${ORCH_VALIDATORS:-}" ] || PATH=$PATH:$ORCH_VALIDATORS/bin # for uv
python3 -m venv "$SCRATCH/first" 2>"$SCRATCH/why" || skip "python3 -m venv does not work: $(head -1 "$SCRATCH/why")"
"$SCRATCH/first/bin/pip" install -q --no-input --timeout 10 --retries 0 'idna==3.7' 'six==1.16.0' >"$SCRATCH/why" 2>&1 ||
    skip "no package index is reached: $(tail -1 "$SCRATCH/why")"
cat >mine.py <<'P'
import hashlib, idna, six, sys
text = "".join(idna.encode(word).decode() for word in ("königsgäßchen", "ελλάδα")) + idna.__version__ + six.__version__
print("code", int(hashlib.sha256(text.encode()).hexdigest()[:8], 16))
P
ok orch try -q -- "$SCRATCH/first/bin/python" mine.py
ok orch show --json @last
code=$(of_json 'it["metrics"][0]["last"]')
ok orch checkout --json @last --environment lock
same "$(json unhashed)" '[]'
grep -q '^six==1.16.0.*' lock/requirements.txt
grep -q -- '--hash=sha256:' lock/requirements.txt

rm -r "$SCRATCH/first"
ok python3 -m venv "$SCRATCH/second"
ok "$SCRATCH/second/bin/pip" install -q --no-input --no-deps --require-hashes -r lock/requirements.txt
ok orch try -q -- "$SCRATCH/second/bin/python" mine.py
ok orch show --json @last
same "$(of_json 'it["metrics"][0]["last"]')" "$code"
