# predictors: lecture 7 (AI Gauge, Justus et al.).
orch_test(lecture "quick" orch_predictors)
# their measurements, where they are; every twelfth row, or it takes long
add_test(NAME reference.justus
  COMMAND ${CMAKE_SOURCE_DIR}/bench/justus.sh ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/../shared/data 12)
set_tests_properties(reference.justus PROPERTIES LABELS "reference" TIMEOUT 1800 SKIP_RETURN_CODE 77)
