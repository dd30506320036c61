# In a partial clone the files of older commits are not there: programs run all the same, and a comparison with such a
# commit says which file is missing and how git fetches it.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >a.py <<'P'
print("loss", 0.5)
P
cat >t.plugin <<'Y'
plugin: t
version: 1.0.0
command: [python3, a.py]
metrics_from: lines
metrics: any
Y
printf 'format: 1\nrecipe: t\nexperiments:\n  t: { plugin: ./t.plugin, repeat: 2 }\n' >t.recipe
git add -A
git commit -qm first
sed -i 's/0.5/0.25/' a.py
git commit -qam second
git config uploadpack.allowFilter true
git config uploadpack.allowAnySHA1InWant true
git clone -q --filter=blob:none "file://$PWD" ../part 2>/dev/null || skip 'git makes no partial clone'
cd ../part
git rev-list --objects --missing=print HEAD | grep -q '^?' || skip 'git makes no partial clone'
ok orch try -- python3 a.py
says 'loss 0.25'
fails 3 orch compare HEAD~1..HEAD --run t.recipe --repeat 2
says "'a.py'"
says "'git archive COMMIT >/dev/null' fetches the files"
git archive HEAD~1 >/dev/null
ok orch compare HEAD~1..HEAD --run t.recipe --repeat 2 -m loss
has 'loss'
