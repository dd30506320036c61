orch_test(collaborators "quick" orch_feature_share)
# Students in clones of one repository, with kills, wrong clocks and a hostile member.
add_library(skew SHARED ${CMAKE_CURRENT_LIST_DIR}/skew.c)
set_target_properties(skew PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
foreach(play "git 5 5 20" "folder 5 5 20" "bundles 5 5 20" "git 40 8 3")
  string(REPLACE " " ";" words "${play}")
  string(REPLACE " " "_" name "${play}")
  add_test(NAME share.${name}
    COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/students.py ${CMAKE_BINARY_DIR} ${words})
  set_tests_properties(share.${name} PROPERTIES LABELS "slow" TIMEOUT 2700
    ENVIRONMENT "${ORCH_TEST_ENVIRONMENT}")
endforeach()
# several clones, pushers at once; 0060, 0063 and 0067 are the quick ones
set_tests_properties(cli.0064-bundles cli.0066-push-pull cli.0068-push-hostile cli.0069-push-places cli.0072-coverage
  PROPERTIES LABELS "slow" TIMEOUT 1200)
# clones that pull at once, with every command and option
set_tests_properties(cli.0098-two-pulls PROPERTIES LABELS "slow" TIMEOUT 2700)
# keys are made, two hosts hold locks, a hostile member writes a thousand refs
set_tests_properties(cli.0070-share cli.0071-share-trouble cli.0075-signatures cli.0087-hostile-worth cli.0088-hostile-refs
  cli.0090-share-hosts cli.0091-first-steps cli.0133-git-settings cli.0204-exchange-faults
  cli.0586-search-together PROPERTIES LABELS "slow")
# take three seconds or more each
set_tests_properties(cli.0650-search-group PROPERTIES LABELS "slow")
