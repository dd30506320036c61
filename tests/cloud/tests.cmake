# Documents of training jobs: the tables of their fields, YAML, and instances by GPU and price.
orch_test(jobs "quick" orch_feature_cloud orch_yaml)
# runs jobs in copies of a repository, and stops one
set_tests_properties(cli.0356-export-job-runs PROPERTIES LABELS "slow")
# imports the clouds' own packages, where they are installed
set_tests_properties(cli.0357-export-job-reference PROPERTIES LABELS "reference" ENVIRONMENT "${ORCH_TEST_ENVIRONMENT}")
