# Black-box tests of the program: each script has a scratch folder and repository of its own.
file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/[0-9]*.sh)
foreach(script ${scripts})
  get_filename_component(name ${script} NAME_WE)
  add_test(NAME cli.${name} COMMAND bash ${script})
  set_tests_properties(cli.${name} PROPERTIES LABELS "quick" TIMEOUT 120 SKIP_RETURN_CODE 77
    ENVIRONMENT "ORCH_SOURCE_DIR=${CMAKE_SOURCE_DIR};ORCH_BUILD_DIR=${CMAKE_BINARY_DIR}")
endforeach()
# trains something in every profile of every recipe
set_tests_properties(cli.0027-recipes PROPERTIES LABELS "slow" TIMEOUT 600)
# start a Jupyter kernel, a browser
set_tests_properties(cli.0053-notebooks cli.0058-page-browser PROPERTIES LABELS "slow" TIMEOUT 300)
add_test(NAME layers COMMAND ${CMAKE_SOURCE_DIR}/tests/layers.sh ${CMAKE_SOURCE_DIR})
set_tests_properties(layers PROPERTIES LABELS quick)
