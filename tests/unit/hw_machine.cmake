# A library with NVML's functions and two made-up GPUs, found through LD_LIBRARY_PATH.
add_library(fake_nvml SHARED ${CMAKE_CURRENT_SOURCE_DIR}/unit/fake_nvml/fake_nvml.c)
set_target_properties(fake_nvml PROPERTIES OUTPUT_NAME nvidia-ml SOVERSION 1
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake_nvml)
orch_test(machine "quick" orch_hw)
add_dependencies(test_machine fake_nvml)
target_compile_definitions(test_machine PRIVATE FAKE_NVML_DIR="${CMAKE_BINARY_DIR}/fake_nvml")
orch_test(topology "quick" orch_hw)
