# core/host: parts that can be tested without a trial
orch_test(mpi_command "quick" orch_wire)
target_sources(test_mpi_command PRIVATE ${CMAKE_SOURCE_DIR}/core/host/mpi_command.c)
# the ABI: a newer plugin under an older host
orch_test(abi "quick" orch_base)
target_include_directories(test_abi PRIVATE ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(test_abi PRIVATE ${CMAKE_DL_LIBS})
# sampling beside a trial
orch_test(usage "quick" orch_hw orch_wire)
target_sources(test_usage PRIVATE ${CMAKE_SOURCE_DIR}/core/host/utilisation.c ${CMAKE_SOURCE_DIR}/core/host/gpu_watch.c ${CMAKE_SOURCE_DIR}/core/host/journal_out.c)
