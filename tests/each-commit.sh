#!/usr/bin/env bash
# tests/each-commit.sh BASE [COMMAND]: whether each commit after BASE passes by itself: one subject of at most 72 characters,
# the checks of the tree's structure, and COMMAND (for example './build.sh core'), in a work tree of its own.
cd "$(dirname "$0")/.." || exit 2
base=${1:?usage: tests/each-commit.sh BASE [COMMAND]}
git rev-parse -q --verify "$base^{commit}" >/dev/null || { echo "each-commit: '$base' is no commit" >&2 && exit 2; }
tree=$(mktemp -d)
trap 'git worktree remove --force "$tree/tree" 2>/dev/null; rm -rf "$tree"' EXIT
git worktree add -q --detach "$tree/tree" "$base" || exit 2
status=0
wrong() {
    echo "$(git log -1 --format=%h "$commit"): $1"
    status=1
}
for commit in $(git rev-list --reverse "$base..HEAD"); do
    subject=$(git log -1 --format=%s "$commit")
    [ ${#subject} -le 72 ] || wrong "a subject of ${#subject} characters: $subject"
    case $subject in *': '*) ;; *) wrong "no 'module: imperative': $subject" ;; esac
    git -C "$tree/tree" checkout -q --detach "$commit" || exit 2
    for check in layers circles core_words one_list sql_joins json_reals environment; do
        script=$tree/tree/tests/$check.sh
        [ ! -e "$script" ] || bash "$script" "$tree/tree" >"$tree/log" 2>&1 || wrong "$check: $(head -n 1 "$tree/log")"
    done
    [ -z "${2:-}" ] || (cd "$tree/tree" && bash -c "$2") >"$tree/log" 2>&1 || wrong "'$2' failed: $(tail -n 1 "$tree/log")"
done
[ $status -ne 0 ] || echo "$(git rev-list --count "$base..HEAD") commits pass"
exit $status
