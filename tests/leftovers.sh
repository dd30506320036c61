#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# leftovers.sh before|after SOURCE BUILD: the tests leave the clone, the home and the folders for temporary files as
# they were. CTest runs 'before' before the first test (it writes BUILD/Testing/leftovers) and 'after' after the last. Where
# CI is set, nobody else works here, and a change is a failure; elsewhere it is told, since you may type orch meanwhile.
when=$1 source=$2 build=$3
listing=$build/Testing/leftovers

# The store of the clone, with sizes and times; and with ORCH_LOOK_AT_CLONE, which './build.sh test' sets, the names of all files
# and which differ from the commit: who starts ctest by hand may go on writing meanwhile. Git, the build folders and what
# the build links are not the tests'.
in_clone() {
    cd "$source" || exit 1
    find .orch* -printf './%p %s bytes %t\n' 2>/dev/null
    [ -n "${ORCH_LOOK_AT_CLONE:-}" ] || return
    find . \( -path ./.git -o -path './build*' -o -path "./${build#"$source"/}" -o -path ./orch -o -path './.orch*' \) -prune -o -printf '%p\n'
    git status --porcelain --untracked-files=no 2>/dev/null | sed 's/^...\(.*\)/\1 (differs from the commit)/'
}
# Other programs write in these folders, too: only names with 'orch' in them count.
in_home() {
    find ~ -maxdepth 1 -name '.*orch*' -printf '%p %s bytes %t\n'
    find ~/.config ~/.cache ~/.local -maxdepth 3 -name '*orch*' ! -name '*torch*' -exec find {} -printf '%p %s bytes %t\n' \; 2>/dev/null
}
# Tests have folders of their own for temporary files (sandbox.sh), so that only fixed names can come here. orch-ctest-* is
# another run of tests, orch-test-* a script of tests/cli that is run by hand.
in_tmp() {
    # shellcheck disable=SC2086
    find ${ORCH_LEFTOVERS_IN:-/tmp /dev/shm "${TMPDIR:-/tmp}"} -maxdepth 1 -name '*orch-*' ! -name 'orch-ctest-*' ! -name 'orch-test-*' -user "$(id -u)" 2>/dev/null
    find /tmp/orch-slots 2>/dev/null
}
# What sandbox.sh could not remove, because CTest killed it when its time was over
sweep() {
    local folder pid
    for folder in "${TMPDIR:-/tmp}"/orch-ctest-* /dev/shm/orch-ctest-*; do
        pid=${folder##*/orch-ctest-}
        [ ! -O "$folder" ] || kill -0 "${pid%%-*}" 2>/dev/null || { chmod -R u+rwX "$folder"; rm -rf "$folder"; }
    done
}
everything() { (in_clone; in_home; in_tmp) | LC_ALL=C sort -u; }

sweep
if [ "$when" = before ]; then
    mkdir -p "$build/Testing" && everything >"$listing"
    exit
fi
[ -f "$listing" ] || { echo 'skipped: there is no listing of before'; exit 77; }
# names that are gone from a folder for temporary files were another program's
changes() { LC_ALL=C diff "$listing" <(everything) | sed -n 's/^> /  left or changed: /p; /^< \/[^ ]*$/d; s/^< /  gone or changed: /p'; }
found=$(changes)
[ -n "$found" ] && sleep 2 && found=$(changes) # what another program of orch's is about to remove
[ -z "$found" ] && exit
printf '%s: while the tests ran, the clone, the home or a folder for temporary files changed:\n%s\n' \
    "$([ -n "${CI:-}" ] && echo FAILED || echo 'noticed, by a test or by you')" "$found"
[ -z "${CI:-}" ]
