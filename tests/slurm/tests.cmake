# Slurm: the verdict of twelve states, options of sbatch, indices of arrays
orch_test(slurm_states "quick" orch_feature_slurm)
# a matrix of some thirty submissions; a real slurmctld, slurmd and slurmdbd. unit.slurm_states is the quick one
set_tests_properties(cli.0342-slurm-verdicts cli.0343-slurm-real cli.0377-slurm-accounts cli.0380-slurm-mpi
  PROPERTIES LABELS "slow" TIMEOUT 900)
# these mostly wait for Slurm's own intervals: started first, they wait beside tests that compute
set_tests_properties(cli.0377-slurm-accounts PROPERTIES COST 2000)
set_tests_properties(cli.0342-slurm-verdicts cli.0343-slurm-real cli.0380-slurm-mpi PROPERTIES COST 600)
# grade many jobs, start dozens of programs, kill a command some twenty times
set_tests_properties(cli.0340-slurm-submit cli.0341-slurm-collect cli.0378-slurm-grades cli.0397-kill-collect cli.0410-slurm-no-answer
  cli.0612-slurm-stop # hosts look for requests every 5 s
  PROPERTIES LABELS "slow")
