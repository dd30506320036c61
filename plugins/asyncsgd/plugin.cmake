# Where MPI is installed: only this plugin links it.
find_package(MPI COMPONENTS C QUIET)
if(TARGET orch_training AND MPI_C_FOUND)
  orch_plugin(asyncsgd orch_training orch_shard MPI::MPI_C m)
endif()
