# 'orch verify' reads the ZIP of 'orch submit' within limits, and lists what it does not check.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
export TMPDIR=$SCRATCH/tmp
mkdir -p "$TMPDIR" hw
ok orch init
cat >hw.recipe <<'R'
format: 1
recipe: hw
experiments:
  nap: { plugin: sleep, sweep: { seconds: [0.01, 0.02] } }
report:
  - { question: 1.1, title: How long?, table: { rows: seconds, value: slept_s } }
R
ok orch run -q hw.recipe
ok orch submit hw.recipe --netid abc123 --out hw --pack
# alone, and as --json; the notebooks beside the pack are named as not checked
ok orch verify hw/abc123_hw.zip
has 'abc123_hw.zip'
has '0 differ'
says "'abc123_hw.orch' is verified"
says "not checked: 'abc123_hw_p1.ipynb'"
ok orch verify hw/abc123_hw.zip --json
same "$(json archive.pack)" abc123_hw.orch
same "$(json archive.not_checked.0)" abc123_hw_p1.ipynb
# a class of ZIPs; where the pack lies beside its ZIP it counts once
ok orch verify hw --json
same "$(json handins.#)" 1
mkdir class
cp hw/abc123_hw.zip class/
ok orch verify class --json
same "$(json handins.#)" 1
ls "$TMPDIR"/orch-handin* >/dev/null 2>&1 && _fail 'a scratch folder was left'
# without a pack, with two, with one that grows, cut short, or no archive at all
python3 - <<'P'
import zipfile
def write(name, files):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as z:
        for f, data in files:
            z.writestr(f, data)
pack = open("hw/abc123_hw.orch", "rb").read()
write("none.zip", [("a_p1.ipynb", "{}")])
write("two.zip", [("a.orch", pack), ("b/b.orch", pack)])
write("bomb.zip", [("a.orch", b"\0" * (40 << 20))])
write("fake.zip", [("../../a.orch", b"no pack"), ("x\x1b[2J.ipynb", "{}")])
write("many.zip", [("f%d" % i, "") for i in range(10050)])
write("up.zip", [("../../../up.orch", pack)])
whole = open("hw/abc123_hw.zip", "rb").read()
open("cut.zip", "wb").write(whole[:len(whole) // 2])
P
fails 3 orch verify none.zip
says 'there is no pack'
says "'orch submit RECIPE --netid ID --pack'"
fails 3 orch verify two.zip
says "holds both 'a.orch' and 'b/b.orch'"
fails 3 orch verify bomb.zip
says 'unpacks to more than'
fails 3 orch verify fake.zip
says 'is not a pack'
fails 3 orch verify many.zip
says 'more than 10000 entries'
fails 3 orch verify cut.zip
# a name that climbs out is a name alone
ok orch verify up.zip
[ ! -e ../../../up.orch ] && [ ! -e ../up.orch ] || _fail 'written outside'

# runs from before git knew a name carry the login name: a pack of them verifies, here and elsewhere
mkdir ../early
cd ../early
git init -q -b main .
cp ../w/hw.recipe .
ok env -u ORCH_USER orch run -q hw.recipe
git config user.name 'Ada Lovelace'
git config user.email ada@example.org
ok env -u ORCH_USER orch pack hw.recipe early.orch
cd ..
ok env -u ORCH_USER orch verify early/early.orch
has '0 differ'
has 'Runs made by others'
ok orch verify early/early.orch
has '0 differ'
