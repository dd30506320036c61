# The line of a trial shows losses first, whatever stands behind the word, and not the settings that the program prints.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >gan.txt <<'T'
Namespace(dataset='fake', batchSize=16, beta1=0.5)
[0/1][0/63] Loss_D: 1.25 Loss_G: 0.75 D(x): 0.5
T
git add -A
git commit -qm first
ok orch try -- cat gan.txt
says 'loss_d 1.250, loss_g 0.75'
