#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A run recorded by 'import orch' has the interpreter, its packages and the load of other programs, like a trial.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export PYTHONPATH=$SOURCE/share/python PYTHONDONTWRITEBYTECODE=1
cat >train.py <<'P'
import sys, time
import orch
with orch.start(lr=0.5) as run:
    until = time.time() + float(sys.argv[1])
    while time.time() < until:
        run.log(loss=sum(range(20000)))
P
git add -A
git commit -qm one
ok python3 train.py 2.5
ok orch show @last --json
same "$(json state)" ok
version=$(python3 -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
same "$(json facts.environment.python)" "$version"
digest=$(json facts.environment.packages)
same "${#digest}" 64
list=.orch/results.db.d/environments/$digest.txt
same "$(cut -f1 "$list" | sha256sum | cut -d' ' -f1)" "$digest" 'the list of packages' # beside a name: who installed it
share=$(json facts.foreign_cpu)
[ "$share" ] || _fail 'the load of others is not recorded'
echo '{"event":"done","status":"ok"}' | orch record 2>/dev/null || _fail 'a pipe'
ok orch show @last --json
same "$(json state)" ok
