orch_test(wire_value "quick" orch_wire)
orch_test(wire_event "quick" orch_wire)
orch_test(wire_manifest "quick" orch_wire)
orch_fuzz(wire orch_wire)
