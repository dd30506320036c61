# core/rows: rows to learn from, and measurements from elsewhere.
if(TARGET orch_feature_imports)
  orch_test(rows "quick" orch_feature_imports)
  add_test(NAME reference.import COMMAND bash ${CMAKE_SOURCE_DIR}/tests/reference/import.sh)
  set_tests_properties(reference.import PROPERTIES LABELS "reference" TIMEOUT 600
    SKIP_RETURN_CODE 77
    ENVIRONMENT "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR};ORCH_BUILD_DIR=${CMAKE_BINARY_DIR}")
  orch_fuzz(import orch_feature_imports)
  orch_fuzz(mlruns orch_feature_imports)
  orch_fuzz(wandb orch_feature_imports)
  orch_fuzz(tensorboard orch_feature_imports)
endif()
