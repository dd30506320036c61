# Results in a bundle for mail or USB, and malicious bundles.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
# Results in a file, for mail and USB; and files that somebody made who means harm.
sleeps naps 0.01
ok orch run naps.recipe
sleeps naps 0.02
ok orch run naps.recipe
key=$(orch ls --format tsv | tail -n 1 | cut -f1)
ok orch export --bundle one.orch "$key"
says "'one.orch': 1 run, 2 files"
ok orch export --bundle all.orch
says '2 runs'
ok orch export --bundle recipe.orch naps.recipe
says '2 runs'
cmp -s all.orch recipe.orch || _fail 'equal content, other bytes'
ok orch export --bundle none.orch --where 'state = failed'
says 'the bundle has no run'
ok orch export --bundle no.orch --dry-run
has runs/
has recipes/
says 'nothing was written'
[ ! -e no.orch ] || _fail 'written'
ok orch export --bundle no.orch --dry-run --json
same "$(json runs)" 2
same "$(json contents.#)" "$(json items)"
fails 2 orch export "$key" --artifacts all
says "need '--bundle'"
fails 2 orch export --bundle x.orch --columns run
says "option '--bundle' excludes"
fails 2 orch export --bundle x.orch zzzz
says zzzz
fails 2 orch export --bundle x.orch --artifacts many
says many
fails 3 orch export --bundle /nowhere/x.orch
says /nowhere/x.orch
# any archiver lists it
tar tzf all.orch >names || _fail 'tar cannot read it'
same "$(head -n 1 names)" format
# into another store, through a folder: a bundle is what the folder holds
mkdir "$SCRATCH/share" "$SCRATCH/other"
put() { cp "$1" "$SCRATCH/share/$(sha256sum <"$1" | cut -c1-64).orch"; }
ok orch db info --json
digest=$(json digest)
put one.orch
put all.orch
cd "$SCRATCH/other"
git init -q -b main .
ok orch pull "$SCRATCH/share"
ok orch db info --json
same "$digest" "$(json digest)"
# by the command itself, in both orders, twice
for order in 'one all' 'all one' 'all all'; do
    mkdir "$SCRATCH/${order% *}-${order#* }"
    cd "$SCRATCH/${order% *}-${order#* }"
    git init -q -b main .
    for name in $order; do ok orch db merge "$SCRATCH/w/$name.orch"; done
    ok orch db info --json
    same "$digest" "$(json digest)" "the store after $order"
    ok orch db check
done
head -c 700 "$SCRATCH/w/all.orch" >cut.orch
fails 3 orch db merge cut.orch
says 'is truncated'
cd "$SCRATCH/other"
# hostile archives: each a line and status 7, or refused as a whole; the store stays as it was
python3 - "$SCRATCH/w/all.orch" "$SCRATCH" <<'P'
import gzip, hashlib, io, sys, tarfile
good, folder = sys.argv[1:]
def entry(name, data=b'', **more):
    info = tarfile.TarInfo(name); info.size = len(data)
    for key, value in more.items(): setattr(info, key, value)
    return info, data
def put(entries, raw=None):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w') as tar:
        for info, data in [entry('format', b'orch results 1\n')] + entries: tar.addfile(info, io.BytesIO(data))
    packed = raw if raw is not None else gzip.compress(out.getvalue())
    open('%s/share/%s.orch' % (folder, hashlib.sha256(packed).hexdigest()), 'wb').write(packed)
put([entry('/tmp/orch-evil', b'x'), entry('../orch-evil', b'x'), entry('a/../../orch-evil', b'x')])
put([entry('link', type=tarfile.SYMTYPE, linkname='/etc/passwd'), entry('link', b'x'),
     entry('hard', type=tarfile.LNKTYPE, linkname='format'), entry('dev', type=tarfile.CHRTYPE)])
with tarfile.open(good) as tar:
    items = [(m, tar.extractfile(m).read()) for m in tar.getmembers() if m.name != 'format']
put([item for item in items for _ in (0, 1)])                                    # everything twice
put([(m, d.replace(b'"state":"ok"', b'"state":"no"')) for m, d in items])          # known: not believed, not taken
put([entry('artifacts/00/' + '0' * 64, b'x'), entry('notes/zzzzz/x', b'{}'), entry('n\x1b[2J', b'x')])
put([], raw=gzip.compress(b'\0' * (1300 << 20), 9)[:-200])                          # a bomb, cut
put([], raw=b'\x1f\x8b' + b'\xff' * 100)
put([], raw=b'')
P
fails 7 orch pull "$SCRATCH/share"
says "'/tmp/orch-evil' is not a valid name"
says 'is a link or a device'
says 'do not match the digest'
says_not $'\033'
[ ! -e /tmp/orch-evil ] && [ ! -e "$SCRATCH/orch-evil" ] || _fail 'written outside'
ok orch db info --json
same "$digest" "$(json digest)" 'the store after hostile bundles'
ok orch db check
ok orch pull "$SCRATCH/share" # reported once
