if(TARGET orch_schedule)
  orch_test(schedule "quick" orch_schedule)
endif()
