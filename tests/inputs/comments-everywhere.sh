#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A changed comment or blank line in Python does not make a run stale, wherever the script is and however it is named;
# changed code does.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# comments CMD...: reused, and the plan says why it differs
comments() {
    ok orch try "$@"
    says '1 done before'
    ok orch try --dry-run "$@"
    has 'only comments changed since'
}
changed() {
    ok orch try "$@"
    says_not '1 done before'
}
fresh() { printf 'import json, m\n\nv = 0.5\nprint("acc", v + m.half())\n' >"$1"; }
commented() { printf '#!/usr/bin/env python3\n# about json\nimport json, m\n\n\nv = 0.5  # the half\nprint("acc", v + m.half())\n' | sed 1d >"$1"; }
other() { sed -i 's/v = 0.5/v = 0.25/' "$1"; }
module() { printf '%sdef half():\n    return %s\n' "${2-}" "${3-1}" >"$1"; }

# a script that a parameter names, one that git ignores, and a script without a suffix
mkdir scripts
printf 'own/\n' >.gitignore
mkdir own
module scripts/m.py
module own/m.py
fresh scripts/a.py
fresh own/a.py
{
    echo '#!/usr/bin/env python3'
    cat scripts/a.py
} >scripts/tool
chmod +x scripts/tool
git add -A && git commit -qm one
for script in scripts/a.py own/a.py; do
    ok orch try -x s=$script -- python3 '{s}'
    commented $script
    comments -x s=$script -- python3 '{s}'
    other $script
    changed -x s=$script -- python3 '{s}'
    fresh $script
    ok orch try -- python3 $script
    commented $script
    comments -- python3 $script
    other $script
    changed -- python3 $script
    fresh $script
    module "${script%/*}/m.py" '# a module

'
    comments -- python3 $script
    comments -x s=$script -- python3 '{s}'
    module "${script%/*}/m.py" '' 2
    changed -- python3 $script
done
ok orch try -- scripts/tool
sed -i 's/^v = .*/&  # the half/' scripts/tool
comments -- scripts/tool
sed -i 's/python3/python3 -O/' scripts/tool
chmod -x scripts/tool
changed -- python3 scripts/tool

# outside of the repository, in a folder that is none, and modules there
mkdir "$SCRATCH/far" "$SCRATCH/plain"
for folder in "$SCRATCH/far" "$SCRATCH/plain"; do
    [ "$folder" = "$SCRATCH/far" ] || cd "$folder"
    fresh "$folder/a.py"
    module "$folder/m.py"
    ok orch try -- python3 "$folder/a.py"
    commented "$folder/a.py"
    comments -- python3 "$folder/a.py"
    other "$folder/a.py"
    changed -- python3 "$folder/a.py"
done
module m.py '# a module
'
comments -- python3 "$PWD/a.py"
comments -- python3 a.py
module m.py '' 2
changed -- python3 a.py
module m.py '"""text"""
'
changed -- python3 a.py
# unfinished in a way that a comment may be code: counts by its content
printf 'x = """a\n# one\n' >odd.py
ok orch try -- sh -c 'cat odd.py >/dev/null; echo acc 1'
sed -i 's/one/two/' odd.py
changed -- sh -c 'cat odd.py >/dev/null; echo acc 1'

# what a run really read
[ -e "$BUILD/orch-watch.so" ] || exit 0
cd "$SCRATCH/w"
mkdir late own/late
for folder in late own/late; do
    module $folder/x.py
    printf 'import runpy, sys\nprint("acc", runpy.run_path(sys.argv[1] + "te/x" + ".py")["half"]())\n' >by.py
    ok orch try -- python3 by.py ${folder%te}
    ok orch show @last
    has "$folder/x.py"
    module $folder/x.py '# later
'
    comments -- python3 by.py ${folder%te}
    module $folder/x.py '' 2
    changed -- python3 by.py ${folder%te}
done
exit 0
