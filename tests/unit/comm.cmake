# all-reduce algorithms, the plan of buckets, 16-bit numbers
orch_test(comm "quick" orch_comm_plan)
if(TARGET orch_comm)
  orch_test(nccl_api "quick" orch_comm)
  find_path(ORCH_CUDA_HEADERS cuda_runtime_api.h PATHS /usr/local/cuda/include)
  if(ORCH_CUDA_HEADERS)
    target_include_directories(test_nccl_api SYSTEM PRIVATE ${ORCH_CUDA_HEADERS})
  endif()
endif()
