# The LibTorch adapter is the longest step of a build: it is among the first that start, and describes no types of LibTorch to debuggers.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
grep -q '^ORCH_TORCH_FOUND:[^=]*=.' "$BUILD/CMakeCache.txt" || skip 'built without LibTorch'
[ -f "$BUILD/compile_commands.json" ] || skip 'no compile_commands.json'
python3 - "$BUILD/compile_commands.json" <<'P' || _fail 'how the adapter is compiled'
import json, sys
steps = json.load(open(sys.argv[1]))
adapter = [i for i, s in enumerate(steps) if "orch_torch_adapter.dir" in s["command"] and s["file"].endswith((".cxx", ".cpp"))]
core = [i for i, s in enumerate(steps) if "/core/" in s["file"]]
assert adapter and core
assert max(adapter) < min(core), "the adapter is compiled after core"
for i in adapter:
    words = steps[i]["command"].split()
    levels = [w for w in words if w.startswith("-g") and not w.startswith("-gnu")]
    assert not levels or "RelWithDebInfo" not in open(sys.argv[1].replace("compile_commands.json", "CMakeCache.txt")).read() or levels[-1] == "-g1", levels
P
