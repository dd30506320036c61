orch_test(net "quick" orch_net)
target_sources(test_net PRIVATE ${CMAKE_SOURCE_DIR}/plugins/common/training/image_side.c)
orch_test(net_cost "quick" orch_net)
target_sources(test_net_cost PRIVATE ${CMAKE_SOURCE_DIR}/plugins/netstat/published.c)
orch_test(idle_memory "quick" orch_net)
orch_test(layer_spec "quick" orch_net)

# Tensors against torchvision's, where it is installed.
add_executable(print_tensors ${CMAKE_SOURCE_DIR}/tests/net/print_tensors.c)
target_link_libraries(print_tensors PRIVATE orch_net)
add_test(NAME net.torchvision COMMAND ${CMAKE_SOURCE_DIR}/tests/net/torchvision.sh
         $<TARGET_FILE:print_tensors>)
set_tests_properties(net.torchvision PROPERTIES LABELS torch TIMEOUT 600 SKIP_RETURN_CODE 77
  ENVIRONMENT "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR}")
