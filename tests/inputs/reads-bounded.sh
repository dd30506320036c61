# Many opened files: a folder counts as a whole, files beyond the limit are counted and reported, and opening a file
# again costs nothing.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
printf 'many/\ndeep/\n' >.gitignore
cat >b.py <<'P'
import os
folder = "ma" + "ny"
for name in os.listdir(folder):
    open(folder + "/" + name).close()
for _ in range(20000):
    open("b.py").close()
print("x", 1)
P
git add .
git commit -qm one
# 10,000 files in one folder are one input, compared by content
mkdir many
(cd many && seq 10000 | split -l 1 -a 4 - f)
ok orch try -- python3 b.py
ok orch show @last
has 'many/'
has_not 'many/faaaa'
ok orch try -- python3 b.py
says 'nothing to run'
echo new >many/faaab
ok orch try -n -- python3 b.py
out=$out$err
has 'many/, which this run read, has changed since'
echo 2 >many/faaab
echo new >many/another
ok orch try -n -- python3 b.py
out=$out$err
has 'many/, which this run read, has changed since'
# 1,000 files in 1,000 folders: the first ones are kept, the others are counted
cat >c.py <<'P'
import os
for i in range(1000):
    open("de" + f"ep/{i}/f").close()
print("x", 1)
P
mkdir deep
for i in $(seq 0 999); do
    mkdir deep/$i
    echo $i >deep/$i/f
done
ok orch try -- python3 c.py
says '1 ok'
ok orch show @last
has '501 more files'
ok orch try -- python3 c.py
says 'nothing to run'
says '501 more files that it read are not compared'
ok orch show @last --json
same "$(json inputs.#)" 500
