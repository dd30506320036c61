# 'orch serve': what it refuses, and its page in a browser.
orch_test(web_guard "quick" orch_web)
orch_fuzz(http orch_web)
add_test(NAME web.refusals COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/refusals.sh)
add_test(NAME web.page COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/page.sh)
set_tests_properties(web.refusals web.page PROPERTIES SKIP_RETURN_CODE 77
  ENVIRONMENT "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR};ORCH_BUILD_DIR=${CMAKE_BINARY_DIR}")
set_tests_properties(web.refusals PROPERTIES LABELS slow TIMEOUT 600)
set_tests_properties(web.page PROPERTIES LABELS slow COST 500 TIMEOUT 1800)
# start a browser, open hundreds of connections, kill a server some twenty times
set_tests_properties(cli.0616-page-group cli.0499-page-changes cli.0621-page-views cli.0524-page-lab-book cli.0525-page-curves-panels cli.0526-page-explore cli.0527-page-accessible cli.0122-page-curves cli.0202-page-answers cli.0398-kill-serve cli.0401-serve-crowd PROPERTIES LABELS "slow")
# take three seconds or more each
set_tests_properties(cli.0170-page-groups cli.0754-importance-of-page-and-report PROPERTIES LABELS "slow")
