# Job documents follow the published models of the platforms, where these are installed: botocore's model of SageMaker,
# the schema of azure-ai-ml.
# test: reference
. "$(dirname "$0")/../cli/lib.sh"
checked=
has_module() { python3 -c "import $1" 2>/dev/null && checked="$checked $1"; }
has_module botocore
has_module azure.ai.ml
[ "$checked" ] || skip 'neither botocore nor azure-ai-ml is installed'
cat >j.recipe <<'R'
format: 1
recipe: j
experiments:
  one: { plugin: sleep, with: { seconds: 0.03 }, resources: { time: 2h, cores: 3, memory: 20GiB }, retries: 2 }
R
case $checked in *botocore*)
    ok orch export job j.recipe --to sagemaker --image i --role arn:aws:iam::123456789012:role/t --results s3://b/p --data s3://b/d --inputs s3://b/i --gpu T4 -o job.json
    cat >check.py <<'P'
import botocore.session, botocore.validate, csv, json, sys
model = botocore.session.get_session().get_service_model('sagemaker')
shape = model.operation_model('CreateTrainingJob').input_shape
report = botocore.validate.ParamValidator().validate(json.load(open(sys.argv[1])), shape)
assert not report.has_errors(), report.generate_report()
known = set(model.shape_for('TrainingInstanceType').enum)
lost = [r['instance'] for r in csv.DictReader(open(sys.argv[2])) if r['platform'] == 'sagemaker' and r['instance'] not in known]
assert not lost, lost
P
    ok python3 check.py job.json "$SOURCE/share/hardware/training.csv"
    ;;
esac
case $checked in *azure*)
    ok orch export job j.recipe --to azureml --image i --results azureml://datastores/x/paths/y --data azureml://datastores/x/paths/d --gpu T4 -o job.yaml
    ok python3 -c 'from azure.ai.ml import load_job; job = load_job("job.yaml"); assert job.limits.timeout == 7200 and job.resources.instance_type == "Standard_NC4as_T4_v3"'
    ;;
esac
printf 'checked with%s\n' "$checked"
