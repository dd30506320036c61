# The runner killed at random instants: 40 kills in each of five phases.
add_test(NAME fault.kill_runner
  COMMAND python3 ${CMAKE_SOURCE_DIR}/tests/fault/kill_runner.py ${CMAKE_BINARY_DIR} 40)
set_tests_properties(fault.kill_runner PROPERTIES LABELS "slow" COST 700 TIMEOUT 1800)

# The calls of SQLite, or of the system's file functions, fail in turn. The linker puts the wrappers of
# tests/fault/fault_calls.h between the store and them.
set(wrapped sqlite3_step sqlite3_exec sqlite3_prepare_v2 sqlite3_prepare_v3 sqlite3_open_v2 sqlite3_backup_init
  sqlite3_backup_step sqlite3_create_function_v2 sqlite3_create_module_v2 sqlite3_wal_checkpoint_v2 sqlite3_errcode
  sqlite3_extended_errcode open openat read pread write pwrite fsync ftruncate fchmod mkdir mkdirat rename renameat
  link unlink unlinkat rmdir stat lstat fstat fstatat fdopendir)
list(TRANSFORM wrapped PREPEND "-Wl,--wrap=")
foreach(fault store_reads store_writes store_opens)
  add_executable(test_${fault} ${CMAKE_SOURCE_DIR}/tests/fault/test_${fault}.c)
  target_link_libraries(test_${fault} PRIVATE orch_store PkgConfig::CMOCKA)
  target_link_options(test_${fault} PRIVATE ${wrapped})
  add_test(NAME fault.${fault} COMMAND test_${fault})
  set_tests_properties(fault.${fault} PROPERTIES LABELS "slow" TIMEOUT 1800 ENVIRONMENT "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR}")
endforeach()
target_link_libraries(test_store_opens PRIVATE orch_feature_doctor)
target_link_options(test_store_opens PRIVATE -Wl,--wrap=orch_tree_remove)
set_tests_properties(fault.store_writes fault.store_opens PROPERTIES COST 700)
set_tests_properties(fault.store_reads PROPERTIES LABELS "quick" TIMEOUT 600)

# The calls of the system fail in turn, in the program or in the host of its trials.
add_library(orch_fault MODULE ${CMAKE_SOURCE_DIR}/tests/fault/preload.c)
set_target_properties(orch_fault PROPERTIES PREFIX "lib" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
target_link_libraries(orch_fault PRIVATE ${CMAKE_DL_LIBS})
target_compile_options(orch_fault PRIVATE -U_FORTIFY_SOURCE -Wno-missing-prototypes -Wno-nonnull-compare)
if(NOT ORCH_SANITIZE AND NOT ORCH_TSAN) # they want to be preloaded first themselves
  add_test(NAME fault.failing_calls COMMAND python3 ${CMAKE_SOURCE_DIR}/tests/fault/failing_calls.py
           ${CMAKE_BINARY_DIR} $<TARGET_FILE:orch_fault>)
  set_tests_properties(fault.failing_calls PROPERTIES LABELS "slow" COST 700 TIMEOUT 2700)
endif()
