# The pages' commands are run, and print what they say.
add_test(NAME docs.readme COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/readme.py
  ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_BINARY_DIR})
add_test(NAME docs.forecasts COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/readme.py
  ${CMAKE_SOURCE_DIR}/docs/forecasts.md ${CMAKE_BINARY_DIR})
add_test(NAME docs.planning COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/readme.py
  ${CMAKE_SOURCE_DIR}/docs/planning.md ${CMAKE_BINARY_DIR})
add_test(NAME docs.sharing COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/readme.py
  ${CMAKE_SOURCE_DIR}/docs/sharing.md ${CMAKE_BINARY_DIR})
set_tests_properties(docs.readme docs.forecasts docs.planning docs.sharing PROPERTIES LABELS quick TIMEOUT 120)
# The tests that docs/faults.md names are there.
add_test(NAME docs.faults COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/faults.py ${CMAKE_SOURCE_DIR})
set_tests_properties(docs.faults PROPERTIES LABELS quick)
