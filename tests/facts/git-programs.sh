# orch does not run programs that a repository's own .git/config names, because an unpacked archive may contain it.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
sleeps naps 0.01
echo '*.dat filter=evil diff=evil' >.gitattributes
echo text >x.dat
git add -A
git commit -qm one
echo more >>x.dat
mkdir hooks
printf '#!/bin/sh\ntouch "%s/mark"\ncat\n' "$SCRATCH" >hooks/run
chmod +x hooks/run
for hook in post-index-change post-checkout pre-commit reference-transaction fsmonitor; do cp hooks/run hooks/$hook; done
for setting in filter.evil.clean filter.evil.smudge filter.evil.process core.fsmonitor diff.evil.textconv diff.external core.pager; do
    git config $setting "$PWD/hooks/run"
done
git config core.hooksPath "$PWD/hooks"
git config filter.evil.required true
for command in check plan config report coverage cost; do
    ok orch $command naps.recipe
    [ ! -e "$SCRATCH/mark" ] || _fail "$command ran a program of the repository's"
done
ok orch plugin ls
ok orch doctor
has "filter 'evil' of the repository's own settings is not run"
ok orch run naps.recipe
says "the git filter 'evil' is not used: it is set only in this repository"
says '1 ok'
ok orch checkout @last out
same "$(cat out/x.dat)" "$(cat x.dat)" 'the file as it lay'
[ ! -e "$SCRATCH/mark" ] || _fail 'a program of the repository was run'
