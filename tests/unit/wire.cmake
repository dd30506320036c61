orch_test(wire_value "quick" orch_wire)
orch_test(secret "quick" orch_wire)
orch_test(wire_event "quick" orch_wire)
orch_test(bounds "quick" orch_wire)
orch_test(wire_manifest "quick" orch_wire)
orch_test(printed "quick" orch_wire)
target_sources(test_printed PRIVATE ${CMAKE_SOURCE_DIR}/core/host/text_metrics.c
  ${CMAKE_SOURCE_DIR}/core/host/text_progress.c ${CMAKE_SOURCE_DIR}/core/host/text_steps.c
  ${CMAKE_SOURCE_DIR}/core/host/intake.c ${CMAKE_SOURCE_DIR}/core/host/journal_out.c)
target_compile_definitions(test_printed PRIVATE ORCH_DOCS="${CMAKE_SOURCE_DIR}/docs")
