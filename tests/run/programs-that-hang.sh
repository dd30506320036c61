# External programs that hang or print without end (git with a remote, git itself, ssh-keygen, gpg, mpirun, weasyprint)
# are ended together with their process group, and the message names them.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_PROGRAM_TIMEOUT=1
mkdir "$SCRATCH/fake"
quick() {
    _run timeout -k 1 100 env PATH="$SCRATCH/fake:$PATH" "$@"
    [ $status -lt 124 ] || _fail "it hangs: $*"
}
fake() {
    {
        echo '#!/bin/bash'
        cat
    } >"$SCRATCH/fake/$1"
    chmod +x "$SCRATCH/fake/$1"
}
git=$(command -v git)
sleeps n 0.01
git commit -q --allow-empty -m x
ok orch run n.recipe
git init -q --bare "$SCRATCH/remote.git"
git remote add origin "$SCRATCH/remote.git"
# a remote that says nothing
fake git <<S
for word; do case \$word in fetch|push|ls-remote) exec sleep 612.$$;; esac; done
exec $git "\$@"
S
quick orch push
same $status 3
says "gave no answer within 1 s"
says_not Traceback
quick orch pull
same $status 3
says "gave no answer within 1 s"
pgrep -f 'sleep 612.$$' >/dev/null && _fail 'a program is left'
# one that writes without an end
fake git <<S
for word; do case \$word in fetch|push|ls-remote) exec yes >&2;; esac; done
exec $git "\$@"
S
quick orch push
same $status 3
# git itself
fake git <<'S'
exec sleep 612.$$
S
quick orch ls
quick orch plan n.recipe
pgrep -f 'sleep 612.$$' >/dev/null && _fail 'a program is left'
rm "$SCRATCH/fake/git"
# the programs that sign
for kind in ssh:ssh-keygen openpgp:gpg; do
    git config gpg.format "${kind%:*}"
    git config user.signingKey "$SCRATCH/key"
    echo key >"$SCRATCH/key"
    for how in 'exec sleep 612.$$' 'exec yes'; do
        fake "${kind#*:}" <<<"$how"
        quick orch push --sign
        [ $status != 0 ] || _fail "signed by '$how'"
        says "${kind#*:}"
    done
done
# the launcher of MPI is asked for its version
if [ -e "$BUILD/tests/plugins/ranks.so" ]; then
    trust "$BUILD/tests/plugins/ranks.so"
    fake mpirun <<'S'
[ "$1" != --version ] || exec sleep 612.$$
echo started >&2; exit 4
S
    printf 'format: 1\nrecipe: r\nexperiments:\n  r: { plugin: %s, resources: { ranks: 2, cores: 1 } }\n' "$BUILD/tests/plugins/ranks.so" >r.recipe
    quick orch run r.recipe
    same $status 1
fi
# the writer of PDF files
fake weasyprint <<'S'
exec sleep 612.$$
S
quick orch report n.recipe --pdf x.pdf
same $status 3
says "'weasyprint' gave no answer within 1 s"
pgrep -f 'sleep 612.$$' >/dev/null && _fail 'a program is left'
exit 0
