# A malicious pack: nothing is written outside of the scratch folder, none of its programs runs, and nothing hangs or
# crashes.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/pack.sh"
ok orch run r.recipe tune -q
ok orch pack r.recipe r.orch
cd "$SCRATCH"
mkdir ta tmp
cd ta
export ORCH_USER=ta TMPDIR=$SCRATCH/tmp
refused() {
    _run orch verify "$1"
    case $status in 3 | 7) ;; *) _fail "status $status of $1" ;; esac
    same "$(ls -A "$SCRATCH/ta" | grep -v orch$)" '' 'files outside'
    [ ! -e "$SCRATCH/evil" ] || _fail "$1 wrote outside"
}
for name in ../evil "$SCRATCH/evil" source/x/../../../evil source//evil; do
    retar ../w/r.orch bad.orch "files.append(['$name', b'x'])"
    refused bad.orch
done
# links, devices, a folder in the place of a file
retar ../w/r.orch bad.orch 'i = tarfile.TarInfo("source/link"); i.type = tarfile.SYMTYPE; i.linkname = "/etc"; extra.append(i); files.append(["source/link/evil", b"x"])'
refused bad.orch
retar ../w/r.orch bad.orch 'i = tarfile.TarInfo("source/hard"); i.type = tarfile.LNKTYPE; i.linkname = "pack.json"; extra.append(i)'
refused bad.orch
retar ../w/r.orch bad.orch 'i = tarfile.TarInfo("source/null"); i.type = tarfile.CHRTYPE; extra.append(i)'
refused bad.orch
retar ../w/r.orch bad.orch 'files.append(["source/a", b"x"]); files.append(["source/a/b", b"x"])'
refused bad.orch
retar ../w/r.orch bad.orch 'files.append(["source/a\x1b[31m", b"x"])'
refused bad.orch
case $out$err in *$'\x1b'*) _fail 'an escape sequence was printed' ;; esac
# deep and wrong JSON; a wrong kind, a newer format; numbers in the place of texts
retar ../w/r.orch bad.orch 'put("pack.json", b"[" * 100000 + b"]" * 100000)'
fails 3 orch verify bad.orch
says 'pack.json cannot be read'
retar ../w/r.orch bad.orch 'put("report.json", b"{\"a\":" * 1000 + b"1" + b"}" * 1000); relist()'
fails 7 orch verify bad.orch
has 'report.json is missing or cannot be read'
retar ../w/r.orch bad.orch 'pack(lambda d: d.update(format=2))'
fails 3 orch verify bad.orch
says 'pack of format 2'
retar ../w/r.orch bad.orch 'pack(lambda d: d.update(kind="a cake"))'
fails 3 orch verify bad.orch
for members in "who made orch" asked recipe "runs trials" plugins "artifacts trees" "left_out collaborators" "files machine datasets"; do
    retar ../w/r.orch bad.orch "
for member in '$members'.split(): pack(lambda d: d.update({member: [7, None, {'path': 1, 'key': 2, 'index': -1}]}))"
    _run orch verify bad.orch
    [ $status -le 7 ] || _fail "status $status with $members as a list"
    retar ../w/r.orch bad.orch "
for member in '$members'.split(): pack(lambda d: d.pop(member, None))"
    _run orch verify bad.orch
    [ $status -le 7 ] || _fail "status $status without $members"
done
retar ../w/r.orch bad.orch 'pack(lambda d: d["recipe"].update(path="../../../../../../etc/passwd"))'
fails 7 orch verify bad.orch
has 'the pack has no recipe'
# a plugin of theirs is not loaded: no compiled one, none by a path that leads out, none in the place of ours
cat >"$SCRATCH/evil.c" <<'C'
#include <stdlib.h>
__attribute__((constructor)) static void run(void) { system("touch " EVIL); }
C
cc -shared -fPIC -DEVIL="\"$SCRATCH/evil\"" -o "$SCRATCH/evil.so" "$SCRATCH/evil.c" 2>/dev/null && {
    retar ../w/r.orch bad.orch '
f = next(f for f in files if f[0].endswith("/r.recipe")); folder = f[0][:-len("r.recipe")]
f[1] = f[1].replace(b"exp/job.plugin", b"./sleep.so"); files.append([folder + "sleep.so", open("../evil.so", "rb").read()]); relist()'
    refused bad.orch
    has 'the pack does not describe'
    retar ../w/r.orch bad.orch '
f = next(f for f in files if f[0].endswith("/r.recipe")); folder = f[0][:-len("r.recipe")]
f[1] = f[1].replace(b"exp/job.plugin", b"job"); files.append([folder + "job.so", open("../evil.so", "rb").read()]); relist()'
    refused bad.orch
    mv "$SCRATCH/evil.so" "$SCRATCH/job.so"
    retar ../w/r.orch bad.orch "
f = next(f for f in files if f[0].endswith('/r.recipe')); f[1] = f[1].replace(b'exp/job.plugin', b'$SCRATCH/job.so'); relist()"
    refused bad.orch
}
# what unpacks to much more than it is
python3 - <<'P'
import gzip, tarfile, io
with gzip.open("bomb.orch", "wb", 9) as out, tarfile.open(fileobj=out, mode="w|", format=tarfile.USTAR_FORMAT) as tar:
    info = tarfile.TarInfo("format"); info.size = 15; tar.addfile(info, io.BytesIO(b"orch results 1\n"))
    for i in range(3):
        info = tarfile.TarInfo("source/big%d" % i); info.size = 400 << 20
        class Zeros:
            left = info.size
            def read(self, n): n = min(n, self.left); self.left -= n; return bytes(n)
        tar.addfile(info, Zeros())
P
refused bomb.orch
same "$(ls -A "$TMPDIR")" '' 'scratch folders left behind'
exit 0
