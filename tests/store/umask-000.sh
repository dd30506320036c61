# Under umask 000, as in some containers and batch systems, orch loads what it wrote itself, and lets nobody write to it.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
umask 000
ok orch try -- sh -c 'echo v 1'
ok orch plugin new mine
ok orch plugin check plugins/mine/mine.plugin
ok orch try --frozen -x n=1,2 -- sh -c 'echo v "$1"; umask' sh '{n}'
same "$(find .orch -type f \( -name '*.plugin' -o -name '*.json' \) -perm -002)" '' 'files that anyone may write to'
# the program has the user's umask
ok orch log @last
has 0000
