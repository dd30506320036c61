# results and claims in a git repository; test claims waits for claims to end
orch_test(results_tree "quick" orch_feature_share)
orch_test(claims "slow" orch_feature_share)
orch_test(folder "quick" orch_feature_share)
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
