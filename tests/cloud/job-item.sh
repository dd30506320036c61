# The report item 'job' shows one trial as the documents of several platforms: the sentence says which fields all of them
# have, the table where, and each document is the one that 'orch export job' writes.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >j.recipe <<'R'
format: 1
recipe: j
profile: small
profiles:
  small: { experiments: { big: { skip: "not here" } } }
experiments:
  big: { plugin: sleep, with: { seconds: 9 } }
  other: { plugin: sleep, with: { seconds: 0.01 } }
  nap: { plugin: sleep, sweep: { seconds: [0.02, 0.03] } }
report:
  - question: "1"
    title: Formats
    job:
      experiments: [big, nap]
      platforms: [sagemaker, vertex, azureml, watsonx]
      time: 2h
      image: ["me/orch:1", "watsonx=runtime-25.1"]
      results: ["sagemaker=s3://b/r", "vertex=gs://b/r", "azureml=azureml://datastores/d/paths/r", "watsonx=r"]
      role: ["sagemaker=arn:aws:iam::123456789012:role/t"]
      project: "watsonx=01234567-89ab-cdef-0123-456789abcdef"
      definition: "watsonx=fedcba98-7654-3210-fedc-ba9876543210"
R
git add -A
git commit -qm x
ok orch report j.recipe --json
cp "$SCRATCH/out" report.json
for to in sagemaker vertex azureml watsonx; do
    orch export job j.recipe nap --profile small --trial 1 --to $to --time 2h --image me/orch:1 --image watsonx=runtime-25.1 \
        --results sagemaker=s3://b/r --results vertex=gs://b/r --results azureml=azureml://datastores/d/paths/r --results watsonx=r \
        --role sagemaker=arn:aws:iam::123456789012:role/t --project watsonx=01234567-89ab-cdef-0123-456789abcdef \
        --definition watsonx=fedcba98-7654-3210-fedc-ba9876543210 >$to.doc 2>>said || _fail "export job --to $to: $(cat said)"
done
python3 - <<'P' || _fail 'the item is not what export job writes'
import json
section = json.load(open("report.json"))["sections"][0]
blocks = section["blocks"]
assert section["state"] == "complete", section["state"]
assert blocks[0]["kind"] == "answer" and "All 4 formats have a field for name, image, command" in blocks[0]["text"], blocks[0]
assert "GPUs (Google Vertex AI)" in blocks[0]["text"], blocks[0]
codes = [b["text"] for b in blocks if b["kind"] == "code"]
names = ["sagemaker", "vertex", "azureml", "watsonx"]
for name, code in zip(names, codes, strict=True):
    assert code == open(name + ".doc").read(), (name, code)
rows = [b["rows"] for b in blocks if b["kind"] == "table"][0]
command = next(r for r in rows if r["field"] == "command")
assert command["azure_machine_learning"] == "command" and len(rows) == 16, rows
assert command["google_vertex_ai"] == "jobSpec.workerPoolSpecs[0].containerSpec.command", command
P
# the page and the terminal show the lines as they are
ok orch report j.recipe
has '...containerSpec.command '
has '    "TrainingJobName": "j-nap-'
has_not 'the the'
has 'persistentResourceId *' # this job leaves it out
has_not '...containerSpec.command *'
ok orch report j.recipe --out site
grep -q '<pre>{' site/index.html || _fail 'the page has no document'
# an instance for one of the platforms
sed 's/      time: 2h/      gpu: T4\n      instance: "watsonx=V100"\n      time: 2h/' j.recipe >gpu.recipe
ok orch report gpu.recipe
has '"InstanceType": "ml.g4dn.xlarge"'
has '"name": "V100"'
has_not missing
# a document that lacks a field says which
sed -i 's|image: \["me/orch:1", |image: [|' j.recipe
ok orch report j.recipe
has 'missing: Amazon SageMaker: field'
has 'TrainingImage'
sed 's/vertex, azureml/vertx, azureml/' j.recipe >bad.recipe
fails 2 orch check bad.recipe
says "unknown platform 'vertx'"
# homework 7 has all four documents, in each profile
if orch plugin show scaling >/dev/null 2>&1; then
    cp "$SOURCE/recipes/hw7.recipe" .
    for profile in laptop course; do
        ok orch report hw7.recipe -p $profile --only 5.6
        has_not 'missing'
    done
fi
