# Runs a command under orch-watch.so, and writes what was noted.
set(rows ${CMAKE_SOURCE_DIR}/core/host/opened_rows.c)
add_executable(watched ${CMAKE_CURRENT_LIST_DIR}/watched.c ${rows})
target_link_libraries(watched PRIVATE orch_watch orch_wire orch_base)

orch_test(watch "quick" orch_watch_linked orch_watch orch_wire orch_base)
target_sources(test_watch PRIVATE ${rows})

# Small programs under strace and the library at once.
add_test(NAME watch.differential COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/differential.py $<TARGET_FILE:watched>)
set_tests_properties(watch.differential PROPERTIES LABELS "slow" COST 30 TIMEOUT 900 SKIP_RETURN_CODE 77
  ENVIRONMENT "${ORCH_TEST_ENVIRONMENT};ORCH_WATCH_LIBRARY=$<TARGET_FILE:orch_watch_preload>;PYTHONDONTWRITEBYTECODE=1")
