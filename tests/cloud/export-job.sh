# 'orch export job' writes a trial as the document of six platforms: the trial by number, label or as the only one, the
# instance by GPU and price, the time limit from --time, the recipe or a run. A document that breaks a rule of the
# platform is an error that names the field.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >j.recipe <<'R'
format: 1
recipe: j
experiments:
  nap: { plugin: sleep, sweep: { seconds: [0.01, 0.02] }, repeat: 2 }
  one: { plugin: sleep, with: { seconds: 0.03 }, resources: { time: 2h, cores: 3, memory: 20GiB } }
R
git add -A
git commit -qm x
commit=$(git rev-parse HEAD)
# which trial
fails 2 orch export job j.recipe --to slurm
says "a job runs one trial, not 5"
says "3 'nap seconds=0.02 #1'"
fails 2 orch export job j.recipe --to slurm --trial 6
says "no trial '6'"
fails 2 orch export job j.recipe --to slurm --trial 0
fails 2 orch export job j.recipe --to slurm --trial none
ok orch export job j.recipe --to slurm --trial 3
has 'orch run j.recipe --part 3/5 --no-progress'
ok orch export job j.recipe nap --to slurm --trial 'nap seconds=0.02 #2'
has 'orch run j.recipe nap --part 4/4'
ok orch export job j.recipe one -s one.seconds=0.5 --to slurm
has 'orch run j.recipe one -s one.seconds=0.5 --part 1/1'
has '#SBATCH --time=0-02:00:00'
has '#SBATCH --cpus-per-task=3'
has '#SBATCH --mem=20480M'
has_not '#SBATCH --gres'
says "2 h 0 min (the recipe's resources)"
fails 2 orch export job j.recipe one
says '--to'
fails 2 orch export job j.recipe one --to slurm --side-by-side
fails 2 orch export job j.recipe one --to mars
says "unknown platform 'mars'"
fails 3 orch export job nobody --to slurm
# from another folder the recipe's path is that in the repository, where the image works
mkdir sub
cd sub
ok orch export job ../j.recipe one --to slurm
has 'orch run j.recipe one'
cd ..
# the options of an account are for all platforms, or for one
ok orch export job j.recipe one --to slurm --queue gpu --project class --role normal --gpu T4 --instance slurm=rtx8000 --image me.sif --time 90 --data '/a b'
has "#SBATCH --partition=gpu"
has "apptainer exec --nv 'me.sif' sh -c"
has "export ORCH_DATA='/a b'"
has '#SBATCH --time=0-00:01:30'
ok sh -n -c "$out"
sage="orch export job j.recipe --trial 1 --to sagemaker --image img"
fails 2 $sage --results s3://b/p
says "field 'RoleArn' of CreateTrainingJob of SageMaker is missing"
says '--role'
fails 2 $sage --results s3://b/p --role arn:aws:iam::12:role/t
says "field 'RoleArn'"
says 'does not match'
fails 2 $sage --results /tmp --role arn:aws:iam::123456789012:role/t
says "field 'OutputDataConfig.S3OutputPath'"
fails 2 $sage --results s3://b/p --role arn:aws:iam::123456789012:role/t --name a_b
says "field 'TrainingJobName'"
ok $sage --results vertex=gs://no --results s3://b/p --role sagemaker=arn:aws:iam::123456789012:role/t --gpu v100 --time 2h --json
same "$(json document.ResourceConfig.InstanceType)" ml.p3.2xlarge
same "$(json document.OutputDataConfig.S3OutputPath)" s3://b/p
same "$(json document.HyperParameters.seconds)" 0.01
same "$(json document.StoppingCondition.MaxRuntimeInSeconds)" 7200
same "$(json usd_per_hour)" 3.06
same "$(json document.Tags.4.Value)" "$commit"
fails 2 $sage --gpu P40
says 'orch knows no machine (instance) of Amazon SageMaker'
says 'its known GPUs are'
fails 2 $sage --gpu P41
says "unknown GPU 'P41'"
# an argument has at most 256 characters
long=$(printf 'x%.0s' $(seq 300))
printf 'format: 1\nrecipe: %s\nexperiments:\n  e: { program: [echo, "{}"] }\n' l >l.recipe
fails 2 orch export job l.recipe e -s "e.$long=1" --to sagemaker
ok orch export job j.recipe one --to vertex --image img --results gs://b/p --data gs://b/d --gpu L4 --json
same "$(json document.jobSpec.workerPoolSpecs.0.machineSpec.acceleratorType)" NVIDIA_L4
same "$(json document.jobSpec.scheduling.timeout)" 7200s
same "$(json document.jobSpec.workerPoolSpecs.0.containerSpec.env.0.value)" /gcs/b/d
fails 2 orch export job j.recipe one --to vertex --image img --results s3://b/p
says "field 'jobSpec.baseOutputDirectory.outputUriPrefix'"
ok orch export job j.recipe one --to azureml --image img --results azureml://datastores/x/paths/y
has 'instance_type: Standard_D8s_v3'
has 'timeout: 7200'
has '${{outputs.result}}/trial.orch'
says 'price unknown'
ok orch export job j.recipe one --to k8s --image img --results claim --gpu A100 -o job.yaml
same "$out" ''
grep -q 'nvidia.com/gpu: "1"' job.yaml && grep -q 'nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB' job.yaml && grep -q 'activeDeadlineSeconds: 7200' job.yaml || _fail 'job.yaml'
fails 2 orch export job j.recipe one --to k8s --image img --results Claim_1
says 'claimName'
id=3c1ce536-20dc-426e-aac7-7284cf3befc6
ok orch export job j.recipe one --to watsonx --image pytorch --results r --project $id --definition $id --json
same "$(json document.model_definition.hardware_spec.name)" L
same "$(json document.results_reference.location.path)" r
fails 2 orch export job j.recipe one --to watsonx --image pytorch --results r --project $id
says "field 'model_definition.id'"
# all beside each other, whatever is missing
ok orch export job j.recipe one --side-by-side --gpu T4 --json
same "$(json fields.0.field)" name
same "$(json fields.1.platform)" sagemaker
says "sagemaker: field 'AlgorithmSpecification.TrainingImage'"
rows=$(grep -o '"platform"' <<<"$out" | wc -l)
same "$rows" 96 'rows of 16 fields and 6 platforms'
# 'export' itself is as it was
fails 3 orch export j.recipe
fails 3 orch export --what runs
# a secret does not get into a document
printf 'command: [sh, -c, "echo loss 1"]\nmetrics_from: lines\nmetrics: { loss: min }\nparameters: { key: { type: secret, default: none } }\n' >s.plugin
printf 'format: 1\nrecipe: s\nexperiments:\n  e: { plugin: ./s.plugin }\n' >s.recipe
fails 2 orch export job s.recipe -s e.key=HUSH --to slurm
says 'a secret parameter'
says_not HUSH
ok orch export job s.recipe --to sagemaker --image i --results s3://b/p --role arn:aws:iam::123456789012:role/t --json
has_not '"key"'
