#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The environment record behind the shims of pyenv has the version of the interpreter that pyenv selects. The shims are
# those of 'pyenv rehash' if pyenv is installed, else scripts of the same form.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
real=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
version=$(python3 -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
export PYENV_ROOT=$SCRATCH/pyenv
unset PYENV_VERSION PYENV_DIR
for name in 3.1.1 3.2.2; do mkdir -p "$PYENV_ROOT/versions/$name/bin"; done
ln -s "$real" "$PYENV_ROOT/versions/3.1.1/bin/python3"
# the second is another interpreter where there is one, as another user of this machine may have it
other=$real
for one in "$(getent passwd "$(id -u)" | cut -d: -f6)"/.pyenv/versions/*/bin/python3 /usr/bin/python3.[0-9]*; do
    found=$("$one" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null)
    [[ ! $found =~ ^3\.[0-9]+\.[0-9]+$ ]] || [ "$found" = "$version" ] || other=$one
done
ln -s "$other" "$PYENV_ROOT/versions/3.2.2/bin/python3"
version2=$("$other" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
mkdir -p "$PYENV_ROOT/shims"
echo 3.1.1 >"$PYENV_ROOT/version"
pyenv=$(command -v pyenv || ls "$(getent passwd "$(id -u)" | cut -d: -f6)/.pyenv/bin/pyenv" 2>/dev/null)
if [ -n "$pyenv" ] && "$pyenv" rehash 2>/dev/null && [ -x "$PYENV_ROOT/shims/python3" ]; then
    PATH=$PYENV_ROOT/shims:${pyenv%/*}:$PATH
else
    pyenv=
    cat >"$PYENV_ROOT/shims/python3" <<'S'
#!/usr/bin/env bash
set -e
[ -n "$PYENV_DEBUG" ] && set -x
at=$PWD version=$PYENV_VERSION
while [ -z "$version" ] && [ -n "$at" ]; do [ ! -f "$at/.python-version" ] || version=$(head -n 1 "$at/.python-version"); at=${at%/*}; done
exec "$PYENV_ROOT/versions/${version:-$(cat "$PYENV_ROOT/version")}/bin/${0##*/}" "$@"
S
    chmod +x "$PYENV_ROOT/shims/python3"
    PATH=$PYENV_ROOT/shims:$PATH
fi
printf 'import sys\nprint("acc", 1)\n' >a.py
git add -A
git commit -qm one
record() {
    ok orch show @last --json
    same "$(json facts.environment.python)" "$1" "python of '$2'"
}
ok orch try -- python3 a.py
record $version 'the global version'
echo 3.2.2 >.python-version
ok orch try --force -- python3 a.py
record $version2 '.python-version'
PYENV_VERSION=3.1.1 ok orch try --force -- python3 a.py
record $version 'PYENV_VERSION'
mkdir deep
cd deep
ok orch try --force -- python3 ../a.py
record $version2 'a folder below'
cd ..
# a version that is not installed: by hand it fails; the record says no wrong version
echo 3.9.9 >.python-version
orch try --force -- python3 a.py >/dev/null 2>&1
ok orch show @last --json
has_not e3b0c442
echo "shims: ${pyenv:-stand-ins}; versions $version and $version2"
exit 0
