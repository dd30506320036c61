#!/usr/bin/env bash
# 'orch pack --crate --sign': the unpacked pack is a Workflow Run RO-Crate and has a signed in-toto statement. Their
# structure is looked at here, the official validators judge them in pack.crate-judged.
# test: slow
. "$ORCH_SOURCE_DIR/tests/cli/lib.sh"
. "$ORCH_SOURCE_DIR/tests/pack/crate_pack.sh"
cat >look.py <<'P'
import base64, hashlib, json, os
crate = json.load(open("unpacked/ro-crate-metadata.json"))
by_id = {entity["@id"]: entity for entity in crate["@graph"]}
assert len(by_id) == len(crate["@graph"]), "an entity occurs twice"
of = lambda kind: [e for e in crate["@graph"] if kind in ([e["@type"]] if isinstance(e["@type"], str) else e["@type"])]

def references(value):
    if isinstance(value, dict):
        yield from ([value["@id"]] if list(value) == ["@id"] else [r for v in value.values() for r in references(v)])
    elif isinstance(value, list):
        for item in value:
            yield from references(item)

outside = {r for e in crate["@graph"] for v in e.values() for r in references(v)} - set(by_id)
assert all(r.startswith(("https://", "http://")) for r in outside), outside
for file in of("File"):
    content = open("unpacked/" + file["@id"], "rb").read()
    assert hashlib.sha256(content).hexdigest() == file["sha256"] and len(content) == int(file["contentSize"]), file
root = by_id["./"]
assert {c["@id"].split("/")[-2] for c in root["conformsTo"]} == {"process", "workflow", "provenance", "workflow-ro-crate"}
workflow = by_id[root["mainEntity"]["@id"]]
assert workflow["@id"].endswith("/r.recipe") and len(workflow["step"]) == 2
runs = [a for a in of("CreateAction") if a["@id"].startswith("#run-")]
assert len(runs) == 5 and len(of("ControlAction")) == 5 and len(of("OrganizeAction")) == 1
failed = [a for a in runs if a["actionStatus"]["@id"].endswith("FailedActionStatus")]
assert not failed
values = {v["name"]: v["value"] for r in runs for v in (by_id[o["@id"]] for o in r["object"]) if v["@type"] == "PropertyValue"}
assert values["x"] in ("1", "2", "1.0", "2.0"), values
losses = sorted(float(v["value"]) for r in runs for v in (by_id[o["@id"]] for o in r["result"]) if v.get("name") == "loss")
assert losses == [1.0, 1.0, 4.0, 4.0], losses
# the second step reads an artifact of the first
use = [r for r in runs if by_id[r["instrument"]["@id"]]["@id"] == "#tool-use"]
assert any(o["@id"].startswith("artifacts/") for o in use[0]["object"])
trees = [d for d in of("Dataset") if d["@id"].startswith("source/")]
git = os.popen("git rev-parse HEAD HEAD^{tree}").read().split()
assert trees[0]["identifier"] == ["swh:1:dir:" + git[1], "swh:1:rev:" + git[0]], trees

envelope = json.load(open("unpacked/statement.dsse.json"))
statement = json.loads(base64.b64decode(envelope["payload"]))
assert envelope["payloadType"] == "application/vnd.in-toto+json" and statement["_type"] == "https://in-toto.io/Statement/v1"
digests = {s["name"]: s["digest"]["sha256"] for s in statement["subject"]}
assert "pack.json" in digests and "ro-crate-metadata.json" in digests
for name, digest in digests.items():
    assert hashlib.sha256(open("unpacked/" + name, "rb").read()).hexdigest() == digest, name
assert {d["uri"] for d in statement["predicate"]["buildDefinition"]["resolvedDependencies"]} == {"swh:1:dir:" + git[1], "swh:1:rev:" + git[0]}
P
ok python3 look.py
ok orch verify r.orch
has "the pack by ada@example.org"
# no crate and no statement unless they are asked for
ok orch pack r.recipe plain.orch
tar tzf plain.orch | grep -E 'crate|dsse' && _fail 'asked for nothing'
# a statement of another pack, and one whose signature is another's
repack() { # repack CODE: unpacked/ as changed.orch after CODE changed it
    rm -rf changed changed.orch
    cp -r unpacked changed
    (cd changed && eval "$1")
    (cd changed && tar czf ../changed.orch format $(find . -type f ! -name format | sed 's|^\./||' | sort))
}
repack 'sed -i "s/\"sig\":\"..../\"sig\":\"AAAA/" statement.dsse.json'
fails 7 orch verify changed.orch
has "statement.dsse.json: the signature does not match"
ok orch run r.recipe --force
ok orch pack r.recipe other.orch --crate --sign
mkdir other
tar xzf other.orch -C other
repack 'cp ../other/statement.dsse.json .'
fails 7 orch verify changed.orch
has "statement.dsse.json: the signature is for other files"
git config --unset user.signingKey
fails 2 orch pack r.recipe none.orch --sign
says "'user.signingKey' is not set"
[ ! -e none.orch ]
