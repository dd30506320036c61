#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The recorded environment is that of the Python behind env, nice, timeout and shell scripts, or "unknown".
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
printf 'print("acc", 1)\n' >a.py
printf '#!/bin/bash\nset -e\nPYTHONHASHSEED=0 python3 a.py\n' >run.sh
chmod +x run.sh
git add -A
git commit -qm first
environment() {
    ok orch show @last --json
    same "$(json facts.environment.python)" "$1" "python of '$2'"
}
ok orch try --force -- python3 a.py
ok orch show @last --json
want=$(json facts.environment.python)
case $want in 3.*) ;; *) _fail "python is '$want'" ;; esac
for words in 'env A=1 python3 a.py' 'nice python3 a.py' 'timeout 60 python3 a.py' 'nice -n 1 env -u X timeout -s KILL 60 python3 a.py' ./run.sh 'sh run.sh' "sh -c python3\ a.py"; do
    eval "ok orch try --force -- $words"
    environment "$want" "$words"
done
printf '#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\nexit 0\n' >"$SCRATCH/bin/uvx"
chmod +x "$SCRATCH/bin/uvx"
ok orch try --force -- uvx python3 a.py
environment unknown uvx
# never the digest of no packages
printf 'x' >"$SCRATCH/bin/python3.99"
chmod +x "$SCRATCH/bin/python3.99"
orch try --force -- python3.99 a.py >/dev/null 2>&1
ok orch show @last --json
has_not e3b0c442
