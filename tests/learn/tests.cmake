# Lecture 7 (AI Gauge, Justus et al.).
orch_test(lecture "slow" orch_feature_learn)
orch_test(layer_rows "quick" orch_feature_learn)
# their measurements, where they are; every 72nd row, or it takes long; one thread, as all tests: more would wait for each other's turns
add_test(NAME reference.justus
  COMMAND ${CMAKE_SOURCE_DIR}/bench/justus.sh ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/../shared/data 72)
set_tests_properties(reference.justus PROPERTIES LABELS "reference" TIMEOUT 5400 SKIP_RETURN_CODE 77
  COST 1000 ENVIRONMENT "${ORCH_TEST_ENVIRONMENT}")
