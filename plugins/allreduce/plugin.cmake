orch_plugin(allreduce orch_comm_plan orch_base)
orch_plugin_mpi(allreduce)
