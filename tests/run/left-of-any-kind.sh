# Whatever a trial leaves is kept: more files than are listed, links, deep and locked folders, in a folder apart and of a
# user who is not root; 'orch gc' names what it cannot remove.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
left=.orch/results.db.d/left
mkdir -p old/deep data
echo 1 >old/deep/a
echo 1 >data/d.txt
ln -s "$PWD/data" cur
ln -s old/deep/a plain
cat >many.py <<'P'
import os
for i in range(10050):
    open("old/f%d" % i, "w").close()
os.symlink("f3", "old/latest")
os.remove("plain")
os.symlink("data/d.txt", "plain")
here = os.getcwd()
for i in range(1500):
    os.mkdir("deep")
    os.chdir("deep")
open("end", "w").close()
os.chdir(here)
os.mkdir("locked")
open("locked/secret", "w").write("s")
os.chmod("locked", 0)
os.chmod("old/deep", 0)
open("cur/out.txt", "w").write("x")
print("v", int(open("cur/d.txt").read()))
P
git add -A
git commit -qm x
kinds=links
[ -n "$(orch doctor 2>/dev/null | grep 'folders apart.*mount namespaces: ')" ] && kinds="mount links"
# as a user who is not root, where the folders can be reached
chmod 755 "$SCRATCH"
as_user() {
    if [ "$(id -u)" = 0 ]; then
        python3 -c 'import os, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
    else
        "$@"
    fi
}
user=as_user
as_user "$BUILD/orch" --version >/dev/null 2>&1 || user=
[ -z "$user" ] || [ "$(id -u)" != 0 ] || chown -R 65534 "$SCRATCH"
git config --global --add safe.directory '*'
for kind in $kinds; do
    export ORCH_APART=$kind
    # shellcheck disable=SC2086
    ok $user orch try --force --frozen -- python3 many.py
    says ' that 1 trial wrote: '
    same "$(ls data)" d.txt "$kind: what an absolute link leads to"
    same "$(find $left -path '*/old/f*' -type f | wc -l)" 10050 'files'
    same "$(readlink $left/*/old/latest) $(readlink $left/*/plain)" 'f3 data/d.txt' 'links'
    same "$(stat -c %a $left/*/locked)" 0 'the mode of a folder'
    same "$(cat $left/*/data/out.txt)" x 'what was written through the link'
    [ ! -e $left/*/many.py ] && [ ! -e $left/*/cur ] || _fail "$kind: what the trial did not write was kept"
    ok $user orch show @last --json
    # the file in the locked folder is counted for root alone
    case $(json left.count) in 10054 | 10055) ;; *) _fail "$(json left.count) files were counted" ;; esac
    ok $user orch show @last
    has ' more (--json)'
    [ -z "$user" ] || has "'locked' cannot be read"
    ok $user orch gc
    same "$(ls $left)" ''
done
# somebody else's folder in it, which root alone can make: the rest is freed, it is named, and the status tells
[ -n "$user" ] && [ "$(id -u)" = 0 ] || exit 0
ok $user orch try -x n=1,2 -- sh -c 'mkdir "$1/d"; echo 12345 >"$1/d/f"; echo v 1' sh '{trial_dir}' '{n}'
theirs=$(ls -d $left/* | head -1)/d
chown -R 0 "$theirs"
fails 3 $user orch gc
says "cannot remove 'left/$(basename "$(dirname "$theirs")")/d': Permission denied"
has 'removed 1 file'
same "$(ls -d $left/*)" "$(dirname "$theirs")" 'what is left'
chown -R 65534 "$theirs"
ok $user orch gc
same "$(ls $left)" ''
