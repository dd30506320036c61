# Slurm: the verdict of twelve states, options of sbatch, indices of arrays
orch_test(slurm_states "quick" orch_feature_slurm)
