# share/hardware: every row of the tables, and what is said of rows that are wrong.
orch_test(hardware_tables "quick" orch_devices)
