# When two trials of a sweep write the same file in the user's folder, a notice is printed once; not when each has its
# own folder.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >w.py <<'P'
import os, sys, time
kind, n = sys.argv[1:3]
os.makedirs("out", exist_ok=True)
name = "out/model.pt" if kind == "same" else "out/model%s.pt" % n
for part in range(3):
    open(name, "w").write(n * (part + 1))
    time.sleep(0.1 * int(n)) # trials side by side end one after the other
print("acc", 1)
P
git add w.py
git commit -qm first
said() { grep -c 'was written by more than one trial' <<<"$err"; }
ok orch try -x n=1,2,3 --name seq -- python3 w.py same '{n}'
same "$(said)" 1
says "'out/model.pt' was written"
says 'use {trial_dir} or a parameter in its name'
rm -r out
ok orch try -x n=1,2,3 --name own -- python3 w.py own '{n}'
same "$(said)" 0
rm -r out
ok orch try -x n=1,2,3 --name pair -j 3 --oversubscribe -- python3 w.py same '{n}'
same "$(said)" 1
rm -r out
ok orch try -x n=1,2,3 --name pairs -j 3 --oversubscribe -- python3 w.py own '{n}'
same "$(said)" 0
rm -r out
# what the message proposes ends it
ok orch try -x n=1,2,3 --name kept --artifact model=out/model.pt -- python3 w.py same '{n}'
same "$(said)" 0
rm -r out
ok orch try -x n=1,2,3 --name cold --frozen -- python3 w.py same '{n}'
same "$(said)" 0
[ ! -e out ] || _fail 'a frozen trial wrote into the folder'
