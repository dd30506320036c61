orch_test(vcs "slow" orch_vcs)
# The same cases through libgit2, through the git program, and on storage that libgit2 cannot read.
add_executable(test_vcs_kinds ${CMAKE_CURRENT_SOURCE_DIR}/unit/test_vcs_kinds.c)
target_link_libraries(test_vcs_kinds PRIVATE orch_vcs PkgConfig::CMOCKA)
foreach(way libgit2 git storage)
  add_test(NAME unit.vcs_${way} COMMAND test_vcs_kinds ${way} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  set_tests_properties(unit.vcs_${way} PROPERTIES LABELS "quick" TIMEOUT 600)
endforeach()
# many repositories, and half a thousand processes of git in two of them; unit.vcs is the quick one
set_tests_properties(unit.vcs_libgit2 unit.vcs_git unit.vcs_storage PROPERTIES LABELS "slow")
