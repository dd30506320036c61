# A folder apart contains ignored files, submodules, large files and paths outside of the repository; new files in it
# are kept.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir ../data ../lib
echo 0.5 >../data/x
ln -s ../data linked
git init -q ../sub
(
    cd ../sub
    echo 'A = 1' >m.py
    git add -A
    git commit -qm x
)
git -c protocol.file.allow=always submodule -q add ../sub ext 2>/dev/null
mkdir -p third src/mypkg deep/er
git init -q third
(
    cd third
    echo 'B = 2' >n.py
    git add -A
    git commit -qm x
)
echo 'C = 4' >src/mypkg/__init__.py
printf 'ignored/\n*.cache\n' >.gitignore
mkdir ignored
echo 8 >ignored/v
echo 16 >deep/er/w.cache
truncate -s 11M big.bin
mkfifo pipe
mkdir empty
echo secret >.env
cat >deep/a.py <<'P'
import os, sys
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [root + "/ext", root + "/third"]
import m, n, mypkg
read = lambda path: float(open(path).read())
print("sum", m.A + n.B + mypkg.C + read("ignored/v") + read("deep/er/w.cache") + read("linked/x") + read("../data/x") + read(root + "/../data/x"))
print("big", os.path.getsize("big.bin"))
print("mine", read(sys.argv[1]))
assert os.path.exists("pipe") and os.listdir("empty") == [] and open(".env").read() == "secret\n"
assert os.path.exists(os.environ["ORCH_TRIAL_DIR"])
print("package", mypkg.__file__)
print("here", os.getcwd())
open("ignored/log", "a").write("x")
open("../beside.txt", "w").write("made by %s" % sys.argv[2])
open("table.txt", "a").write("line\n")
os.makedirs("out", exist_ok=True)
open("out/model.pt", "w").write("weights %s" % sys.argv[2])
P
echo head >table.txt
echo 3 >own.txt
git add .gitignore linked ext src deep table.txt own.txt
git commit -qm first
kinds=links
[ -n "$(orch doctor 2>/dev/null | grep 'folders apart.*mount namespaces: ')" ] && kinds="mount links"
for kind in $kinds; do
    rm -rf .orch ignored/log
    ORCH_APART=$kind
    export ORCH_APART
    ok orch doctor
    has 'folders apart'
    [ $kind = links ] && has 'links: '
    # the module is found in the copy by an absolute PYTHONPATH, and a word and a parameter name files by absolute paths
    PYTHONPATH=$PWD/src ok orch try --frozen -x n=1,2 -- python3 deep/a.py "$PWD/own.txt" '{n}'
    says '2 ok'
    says_not 'leads to'
    says "that 2 trials wrote: kept until 'orch gc'"
    ok orch ls --json -m sum -m big -m mine
    same "$(json runs.0.sum) $(json runs.0.big) $(json runs.0.mine)" '32.5 11534336.0 3.0' "$kind: what the program read"
    ok orch log @last
    if [ $kind = mount ]; then
        has "package $PWD/src/mypkg"
        has "here $PWD"
    else
        has 'package /'
        has_not "package $PWD/src"
    fi
    same "$(cat table.txt ignored/log)" "$(printf 'head\nxx')" "$kind: what was written into the work tree"
    [ -z "$(git status --short table.txt out)" ] || _fail 'the work tree has files of a trial'
    same "$(cat ../beside.txt)" 'made by 2' "$kind: a file above the repository"
    rm ../beside.txt
    # its files are kept with the run until gc
    ok orch show @last
    has 'files that it left'
    has 'out/model.pt'
    has 'table.txt'
    ok orch show @last --file out/model.pt
    same "$out" 'weights 2'
    ok orch show @last --file table.txt
    same "$out" "$(printf 'head\nline')"
    fails 2 orch show @last --file nothing.txt
    says "no file 'nothing.txt'"
    ok orch gc
    ok orch show @last
    has_not 'files that it left'
    # an artifact is found in the copy and in what the copy shares
    PYTHONPATH=$PWD/src ok orch try --frozen -s n=3 --artifact model=out/model.pt --artifact log=ignored/log -- python3 deep/a.py own.txt '{n}'
    ok orch show @last --artifact model
    same "$out" "weights 3"
    ok orch show @last --artifact log
    same "$out" xxx
    # an editable install
    python3 -m venv --without-pip ../v 2>/dev/null || continue
    site=$(echo ../v/lib/python3*/site-packages)
    for install in pth finder; do
        rm -f "$site"/__editable__*
        if [ $install = pth ]; then echo "$PWD/src" >"$site/__editable__.mypkg.pth"; else
            echo 'import __editable___mypkg_finder; __editable___mypkg_finder.install()' >"$site/__editable__.mypkg.pth"
            printf "import sys, importlib.util\nMAPPING = {'mypkg': '%s'}\nclass F:\n    @classmethod\n    def find_spec(cls, name, path=None, target=None):\n        return importlib.util.spec_from_file_location(name, MAPPING[name] + '/__init__.py') if name in MAPPING else None\ndef install():\n    sys.meta_path.append(F)\n" "$PWD/src/mypkg" >"$site/__editable___mypkg_finder.py"
        fi
        ok orch try --force --frozen -- ../v/bin/python deep/a.py own.txt 9
        ok orch log @last
        if [ $kind = mount ]; then has "package $PWD/src/mypkg"; else
            has '/work/'
            has_not "package $PWD/src"
        fi
    done
done
# where paths cannot be redirected this is said, and two commits are not compared
export ORCH_APART=links
printf 'print("acc", len(open("%s/own.txt").read()))\n' "$PWD" >abs.py
ok orch try --frozen -- python3 abs.py
says 'abs.py names the path'
says 'by this path a trial uses your folder'
mkdir p
printf 'plugin: p\nversion: 0.1.0\nabout: x\nlicence: MIT\ncommand: [sh, -c, "exit 1"]\nmetrics_from: lines\nmetrics:\n  acc: {better: max, help: a}\n' >p/p.plugin
printf 'format: 1\nrecipe: r\nexperiments:\n  a: {plugin: p/p.plugin, program: "python3 abs.py"}\n' >r.recipe
git add abs.py p r.recipe
git commit -qm abs
git checkout -q -b feature
echo 12345 >own.txt
git commit -qam longer
git checkout -q main
fails 2 orch compare main..feature --run r.recipe -m acc
says 'both sides of the comparison would use the files of your work tree'
case $kinds in mount*)
    unset ORCH_APART
    ok orch compare main..feature --run r.recipe -m acc --json
    same "$(json metrics.0.a.mean) $(json metrics.0.b.mean)" '2.0 6.0' 'two commits by an absolute path'
    ;;
esac
# a relative program is compared either way
export ORCH_APART=links
printf 'print("acc", len(open("own.txt").read()))\n' >abs.py
for branch in main feature; do
    git checkout -q $branch
    printf 'print("acc", len(open("own.txt").read()))\n' >abs.py
    git commit -qam rel
done
git checkout -q main
ok orch compare main..feature --run r.recipe -m acc --json
same "$(json metrics.0.a.mean) $(json metrics.0.b.mean)" '2.0 6.0' 'two commits by links'
