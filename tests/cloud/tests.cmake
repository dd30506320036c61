# Documents of training jobs: the tables of their fields, YAML, and instances by GPU and price.
orch_test(jobs "quick" orch_feature_cloud orch_yaml)
