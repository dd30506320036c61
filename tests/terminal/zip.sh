# The ZIP of a hand-in can be read by other programs, and theirs by orch. Entries that are not regular files are
# refused.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ok orch init
mkdir hw
cat >hw.recipe <<'R'
format: 1
recipe: hw
experiments:
  nap: { plugin: sleep, sweep: { seconds: [0.01] } }
report:
  - { question: 1.1, title: How long?, table: { rows: seconds, value: slept_s } }
R
ok orch run -q hw.recipe
ok orch submit hw.recipe --netid abc123 --out hw --pack
python3 - <<'P' || _fail 'the archives'
import struct, sys, time, warnings, zipfile
warnings.simplefilter("ignore")
ours = zipfile.ZipFile("hw/abc123_hw.zip")
assert ours.testzip() is None
for i in ours.infolist():
    assert i.external_attr >> 16 == 0o100644 and i.flag_bits & 0x800, i
    assert abs(time.mktime(i.date_time + (0, 0, -1)) - time.time()) < 600, i.date_time
    assert i.compress_size <= i.file_size
book, = [i for i in ours.infolist() if i.filename.endswith(".ipynb")]
assert book.compress_type == zipfile.ZIP_DEFLATED and book.compress_size < book.file_size / 2
pack = ours.read("abc123_hw.orch")

def write(name, members, method=zipfile.ZIP_DEFLATED, **options):
    with zipfile.ZipFile(name, "w", method, **options) as z:
        for member, data in members:
            z.writestr(member, data)
def named(name, mode=0, system=3):
    i = zipfile.ZipInfo(name)
    i.external_attr, i.create_system = mode << 16, system
    return i
write("stored.zip", [("a.orch", pack)], zipfile.ZIP_STORED)
write("windows.zip", [(named("hw\\a.orch", system=0), pack)])
with zipfile.ZipFile("zip64.zip", "w") as z:
    with z.open(zipfile.ZipInfo("a.orch"), "w", force_zip64=True) as f:
        f.write(pack)
class Pipe: # cannot go back: sizes stand behind the bytes
    def __init__(self, name): self.f = open(name, "wb")
    def write(self, b): return self.f.write(b)
    def flush(self): self.f.flush()
write(Pipe("streamed.zip"), [("notes.txt", "x" * 1000), ("a.orch", pack)])
write("comment.zip", [("a.orch", pack)])
with zipfile.ZipFile("comment.zip", "a") as z:
    z.comment = b"PK\5\6 handed in late"
# none of these has a pack: a link, a folder, a device
write("link.zip", [(named("a.orch", 0o120777), "/etc/passwd")])
write("folder.zip", [(named("a.orch/"), "")])
write("device.zip", [(named("a.orch", 0o020666), pack)])
# these cannot be read
write("twice.zip", [("a.orch", pack), ("a.orch", pack)])
write("lzma.zip", [("a.orch", pack)], zipfile.ZIP_LZMA)
def change(name, at, value, source="stored.zip"):
    b = bytearray(open(source, "rb").read())
    directory = b.rindex(b"PK\1\2")
    b[directory + at:directory + at + len(value)] = value
    open(name, "wb").write(b)
change("locked.zip", 8, b"\1\0")
change("crc.zip", 16, b"\0\0\0\0")
change("outside.zip", 42, struct.pack("<I", 1 << 30))
change("longer.zip", 24, struct.pack("<I", len(pack) + 1), "comment.zip")
change("shorter.zip", 24, struct.pack("<I", len(pack) - 1), "comment.zip")
change("huge.zip", 24, struct.pack("<I", 0xfffffffe), "comment.zip")
P
for name in stored windows zip64 streamed comment; do
    ok orch verify $name.zip
    has '0 differ'
done
for name in link folder device; do
    fails 3 orch verify $name.zip
    says 'there is no pack'
done
unreadable() {
    fails 3 orch verify "$1.zip"
    says "$1.zip"
    says "$2"
    [ -z "$(ls -d "${TMPDIR:-/tmp}"/orch-handin* 2>/dev/null)" ] || _fail 'a scratch folder was left'
}
export TMPDIR=$SCRATCH/tmp
mkdir "$TMPDIR"
unreadable twice 'a name occurs twice'
unreadable lzma 'by a method other than deflate'
says 'zip it again'
unreadable locked 'an entry is encrypted'
unreadable crc 'CRC-32'
unreadable outside 'is not at the offset that the directory gives'
unreadable longer 'the unpacked size of an entry is wrong'
unreadable shorter 'the unpacked size of an entry is wrong'
unreadable huge 'impossible sizes'
