# 'orch serve': what it refuses, and its page in a browser.
orch_test(web_guard "quick" orch_web)
orch_fuzz(http orch_web)
add_test(NAME web.refusals COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/refusals.sh)
add_test(NAME web.page COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/page.sh)
set_tests_properties(web.refusals web.page PROPERTIES SKIP_RETURN_CODE 77
  ENVIRONMENT "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR};ORCH_BUILD_DIR=${CMAKE_BINARY_DIR}")
set_tests_properties(web.refusals PROPERTIES LABELS slow TIMEOUT 600)
set_tests_properties(web.page PROPERTIES LABELS slow COST 500 TIMEOUT 1800)
