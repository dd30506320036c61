# which values of a metric are better
orch_test(direction "quick" orch_wire)
orch_test(wire_value "quick" orch_wire)
orch_test(secret "quick" orch_wire)
orch_test(wire_event "quick" orch_wire)
orch_test(bounds "quick" orch_wire)
orch_test(wire_manifest "quick" orch_wire)
foreach(part printed printed_corpus)
  orch_test(${part} "quick" orch_wire)
  target_sources(test_${part} PRIVATE ${CMAKE_SOURCE_DIR}/core/host/text_metrics.c ${CMAKE_SOURCE_DIR}/core/host/text_values.c
    ${CMAKE_SOURCE_DIR}/core/host/text_progress.c ${CMAKE_SOURCE_DIR}/core/host/text_steps.c
    ${CMAKE_SOURCE_DIR}/core/host/intake.c ${CMAKE_SOURCE_DIR}/core/host/journal_out.c)
  target_compile_definitions(test_${part} PRIVATE ORCH_DOCS="${CMAKE_SOURCE_DIR}/docs"
    ORCH_PRINTED="${CMAKE_SOURCE_DIR}/tests/wire/printed")
endforeach()
