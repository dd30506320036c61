#!/usr/bin/env bash
# The conda list of a run, on an environment that rattler (the library of pixi) installed from a channel in a folder: each
# package is there with its address and digest, and they install again.
# test: slow
. "$ORCH_SOURCE_DIR/tests/cli/lib.sh"
judge_by rattler
export RATTLER_CACHE_DIR=$SCRATCH/cache
cat >channel.py <<'P'
import asyncio, hashlib, io, json, os, shutil, sys, tarfile
import rattler
from rattler.index import index_fs
channel, prefix, wanted = os.path.abspath("channel"), sys.argv[1], sys.argv[2:]
def pack(name, depends, files):
    index = {"name": name, "version": "1.2", "build": "0", "build_number": 0, "depends": depends, "subdir": "noarch", "noarch": "generic"}
    paths = [{"_path": path, "path_type": "hardlink", "sha256": hashlib.sha256(data).hexdigest(), "size_in_bytes": len(data)}
             for path, data in files.items()]
    files = {**files, "info/index.json": json.dumps(index).encode(), "info/paths.json": json.dumps({"paths": paths, "paths_version": 1}).encode()}
    with tarfile.open(f"{channel}/noarch/{name}-1.2-0.tar.bz2", "w:bz2") as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(data), 0o755
            archive.addfile(entry, io.BytesIO(data))
async def main():
    if not os.path.exists(channel):
        os.makedirs(channel + "/noarch")
        pack("tools", [], {"share/tools.txt": b"score 7\n"})
        pack("python", ["tools"], {"bin/python3.11": open(shutil.which("cat"), "rb").read()})
        await index_fs(channel)
    records = await rattler.solve([rattler.Channel("file://" + channel)], wanted, platforms=["noarch"])
    await rattler.install(records, prefix, show_progress=False)
asyncio.run(main())
os._exit(0)  # rattler may crash while the interpreter ends
P
"$judge" channel.py first python >"$SCRATCH/why" 2>&1 || _fail "$(tail -1 "$SCRATCH/why")"
ok orch try -q -- "$PWD/first/bin/python3.11" first/share/tools.txt
ok orch checkout @last --environment lock
has "lock/conda.txt"
"$judge" - first lock/conda.txt <<'P' >again || _fail "conda.txt"
import hashlib, pathlib, sys
import rattler
lines = [line for line in open(sys.argv[2]).read().split("\n") if line and line[0] != "#"]
assert lines.pop(0) == "@EXPLICIT", lines
records = [rattler.PrefixRecord.from_path(path) for path in pathlib.Path(sys.argv[1], "conda-meta").glob("*.json")]
assert sorted(lines) == sorted(f"{r.url}#{r.md5.hex()}" for r in records) and len(lines) == 2, (lines, records)
for line in lines:
    path, digest = line.removeprefix("file://").split("#")
    assert hashlib.md5(open(path, "rb").read()).hexdigest() == digest, line
print(" ".join("==".join(line.split("/")[-1].rsplit("-", 2)[:2]) for line in lines))
P
"$judge" channel.py second $(cat again) >"$SCRATCH/why" 2>&1 || _fail "$(tail -1 "$SCRATCH/why")"
same "$(second/bin/python3.11 second/share/tools.txt)" "score 7"
