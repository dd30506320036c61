orch_plugin(simcluster orch_comm_plan orch_steptime orch_net orch_hw orch_base)
# The simulated worker, where SimGrid's compiler is installed; without it trials end as skipped.
find_program(ORCH_SMPICC smpicc)
if(ORCH_SMPICC)
  set(worker ${CMAKE_BINARY_DIR}/plugins/common/orch-smpi-worker)
  set(sources ${ORCH_TREE}/plugins/simcluster/smpi/smpi_worker.c)
  foreach(shared algorithms collective)
    list(APPEND sources ${ORCH_TREE}/plugins/common/comm/${shared}.c)
  endforeach()
  file(GLOB headers CONFIGURE_DEPENDS ${ORCH_TREE}/plugins/common/comm/*.h)
  add_custom_command(OUTPUT ${worker} DEPENDS ${sources} ${headers} VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/plugins/common
    COMMAND ${ORCH_SMPICC} -std=gnu17 -O2 -Wall -Wextra -I${ORCH_TREE} -o ${worker} ${sources} -lm)
  add_custom_target(smpi_worker ALL DEPENDS ${worker})
  add_dependencies(plugin_simcluster smpi_worker)
  install(PROGRAMS ${worker} DESTINATION lib/orch/plugins/common COMPONENT simgrid)
endif()
