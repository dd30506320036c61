# predictors: how long a running trial still takes.
orch_test(remaining "quick" orch_predictors)
# limits; the Python of a command
orch_test(limit_options "quick" orch_scheduler)
orch_test(promise "quick" orch_scheduler)
orch_test(python_env "quick" orch_workspace)
# core/schedule: the progress of running trials
orch_test(progress "quick" orch_scheduler)
# core/plan: plans; core/record: the folders of trials
orch_test(plan "quick" orch_scheduler)
