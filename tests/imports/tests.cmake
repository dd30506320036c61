# Tables of measurements, files of other trackers, and the rows that predictors learn from.
orch_test(rows "quick" orch_feature_imports)
orch_test(measurements "quick" orch_feature_imports)
orch_test(import_files "quick" orch_feature_imports)
add_test(NAME reference.import COMMAND bash ${CMAKE_SOURCE_DIR}/tests/reference/import.sh)
set_tests_properties(reference.import PROPERTIES LABELS "reference" TIMEOUT 600 SKIP_RETURN_CODE 77
  ENVIRONMENT "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR};ORCH_BUILD_DIR=${CMAKE_BINARY_DIR}")
foreach(reader import import_json mlruns wandb tensorboard mlflow_db optuna_db)
  orch_fuzz(${reader} orch_feature_imports)
endforeach()
