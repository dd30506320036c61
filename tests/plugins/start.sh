# The first 'orch plugin check' of a new plugin: the summary, missing declarations, separate findings, and a hint for a
# wrong path.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ok orch plugin new mine --language shell
ok orch plugin check plugins/mine/mine.plugin
has '2 parameters, 2 metrics, 1 artifact'
has '2 points, 1 result, 1 artifact'
has_not '1 results'
has_not '1 artifacts'
sed -i 's/^  final_loss/  fin_loss/' plugins/mine/mine.plugin
ok orch plugin check plugins/mine/mine.plugin
has "declared, but not reported in a smoke run: 'fin_loss'"
sed -i 's/^parameters:/params:/' plugins/mine/mine.plugin
fails 7 orch plugin check plugins/mine/mine.plugin
has "stands for '\$'; command: unknown name"
# a compiled one: its file is NAME.so, and has to be built
ok orch plugin new fast --language c
fails 4 orch plugin check plugins/fast/fast.plugin
says "build it: make -C '$PWD/plugins/fast'"
fails 4 orch plugin check plugins/fast/fast.so
says "build it: make -C '$PWD/plugins/fast'"
: >plugins/fast/fast.so
fails 4 orch plugin check plugins/fast/fast.plugin
says "did you mean '$PWD/plugins/fast/fast.so'?"
fails 4 orch plugin check plugins/none/none.plugin
says 'paths on the command line at the current one'
