# Runs a command under orch-watch.so, and prints what was noted.
add_executable(watched ${CMAKE_CURRENT_LIST_DIR}/watched.c ${CMAKE_SOURCE_DIR}/core/host/opened_rows.c)
target_link_libraries(watched PRIVATE orch_watch orch_wire orch_base)
