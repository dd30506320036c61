# share/hardware: every row of the tables, and what is said of rows that are wrong.
orch_test(hardware_tables "quick" orch_hw)
# 'orch gpu prices --update', and lib/base/csv.
if(TARGET orch_hardware)
  orch_fuzz(prices orch_hardware)
endif()
