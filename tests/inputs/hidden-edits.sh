# Files marked skip-worktree or assume-unchanged are captured as they are on disk; a sparse checkout counts as clean.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
values() { orch ls --json -m acc | python3 -c 'import json, sys; print(*[r["acc"] for r in json.load(sys.stdin)["runs"]])'; }
for setting in true false; do # through git and through libgit2
    for mark in skip-worktree assume-unchanged; do
        rm -rf .git .orch *.py
        git init -q -b main . 2>/dev/null
        [ $setting = true ] && {
            git config core.repositoryformatversion 1
            git config extensions.worktreeConfig true
        }
        echo 'A = 0.1' >conf.py
        printf 'import conf\nprint("acc", conf.A)\n' >a.py
        git add -A
        git commit -qm first
        git update-index --$mark conf.py
        echo 'A = 0.9' >conf.py
        ok orch try -- python3 a.py
        same "$(values)" 0.9 "$mark"
        rm -rf ../then
        ok orch checkout @last ../then
        same "$(cat ../then/conf.py)" 'A = 0.9' "$mark: the captured file"
        echo 'A = 0.7' >conf.py
        ok orch try -n -- python3 a.py
        has_not done
        has 'conf.py'
        ok orch try --frozen -- python3 a.py
        same "$(values)" '0.7 0.9' "$mark, apart"
        git ls-files -v | grep -q '^[Sh] conf.py' || _fail 'the mark is gone from the index of the user'
    done
done
rm -rf .git .orch *.py
git init -q -b main . 2>/dev/null
mkdir big
echo 1 >big/f
printf 'print("acc", 1)\n' >a.py
git add -A
git commit -qm first
git sparse-checkout set --no-cone /a.py 2>/dev/null
[ ! -e big/f ] || skip 'this git has no sparse checkout'
same "$(git status --short)" ''
ok orch try -- python3 a.py
ok orch show @last
has_not 'with uncommitted changes'
rm -rf ../then
ok orch checkout @last ../then
same "$(cat ../then/big/f)" 1 'a file that is not checked out'
git config --unset extensions.worktreeConfig
git config core.sparseCheckout true
git config core.repositoryformatversion 0
ok orch try --force -- python3 a.py
ok orch show @last
has_not 'with uncommitted changes'
