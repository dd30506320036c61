if(TARGET orch_training)
  orch_plugin(scaling orch_training orch_comm_plan)
  orch_plugin_mpi(scaling)
endif()
