orch_test(stats "quick" orch_report)
orch_test(draw "quick" orch_report)
orch_test(disturbed "quick" orch_report orch_wire)
target_sources(test_disturbed PRIVATE ${CMAKE_SOURCE_DIR}/core/host/foreign_cpu.c)
