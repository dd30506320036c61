if(TARGET orch_loader)
  orch_test(data "quick" orch_loader)
endif()
