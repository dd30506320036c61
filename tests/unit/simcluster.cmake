# simcluster: platform files and the plan of a step. SimGrid itself is run by experiments.simcluster and experiments.simcluster-faults.
orch_test(simcluster "quick" orch_comm_plan orch_steptime orch_net orch_hw orch_base)
target_sources(test_simcluster PRIVATE ${CMAKE_SOURCE_DIR}/plugins/simcluster/platform_file.c
  ${CMAKE_SOURCE_DIR}/plugins/simcluster/sim_plan.c)
