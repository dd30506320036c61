# Two commands that differ in the name of what the program writes are one setting: for 'orch best', repeats and 'orch
# compare'. What it reads, a folder with data in it and any other word tell settings apart.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >t.py <<'P'
import os, sys
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
value = float(open(given["--data"]).read()) if "--data" in given else 1
if "--dir" in given:
    os.makedirs(given["--dir"], exist_ok=True)
    value += sum(float(open(given["--dir"] + "/" + n).read()) for n in sorted(os.listdir(given["--dir"])) if n.startswith("in"))
    open(given["--dir"] + "/cache", "w").write("x")
if "--out" in given:
    open(given["--out"], "w").write("x")
print("acc", value + int(given.get("--seed", 0)) % 3 / 100)
P
echo 2 >a.dat
echo 3 >b.dat
mkdir one two sub
echo 4 >one/in
echo 5 >two/in
git add -A
git commit -qm x
settings() { # COUNT of the settings of the experiment
    ok orch best acc -e "$1" --json
    same "$(json rankings.0.settings.#)" "$2" "settings of $1"
}
for out in a.txt ./b.txt "$PWD/c.txt" sub/d.txt; do
    ok orch try -q --name file -x seed=1,2 -- python3 t.py --out "$out" --seed '{seed}'
done
settings file 1
same "$(json rankings.0.settings.0.n)" 2 'seeds'
# the name holds a parameter, comes from a folder below, is that of a folder, or of a trial apart
ok orch try -q --name param -x lr=1,2 -- python3 t.py --lr '{lr}' --out 'a{lr}.txt'
ok orch try -q --name param -x lr=1,2 -- python3 t.py --lr '{lr}' --out 'b{lr}.txt'
settings param 2
cd sub
ok orch try -q --name below -- python3 ../t.py --out e.txt
ok orch try -q --name below -- python3 ../t.py --out ../f.txt
settings below 1
cd ..
ok orch try -q --name folder -- python3 t.py --dir new1
ok orch try -q --name folder -- python3 t.py --dir new2
settings folder 1
ok orch try -q --name apart --frozen -- python3 t.py --out g.txt
ok orch try -q --name apart --frozen -- python3 t.py --out h.txt
settings apart 1
# other words
ok orch try -q --name data -- python3 t.py --data a.dat --out i.txt
ok orch try -q --name data -- python3 t.py --data b.dat --out j.txt
settings data 2
has 'python3 t.py --data b.dat --out {output}'
ok orch try -q --name cache -- python3 t.py --dir one
ok orch try -q --name cache -- python3 t.py --dir two
settings cache 2
# what was typed is shown
ok orch show @last
has 'python3 t.py --dir two'
# without knowing what was written, the words are as they are
ok orch try -q --no-watch --name blind -- python3 t.py --out k.txt
ok orch try -q --no-watch --name blind -- python3 t.py --out l.txt
settings blind 2
