# Each page with a ```console block is run, and prints what it says.
file(GLOB pages RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/README.md
  ${CMAKE_SOURCE_DIR}/docs/*.md ${CMAKE_SOURCE_DIR}/docs/plugins/*.md)
foreach(page ${pages})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${page})
  file(STRINGS ${CMAKE_SOURCE_DIR}/${page} consoles REGEX "^```console")
  if(consoles)
    string(REGEX REPLACE "^docs/|[.]md$" "" name ${page})
    string(TOLOWER ${name} name)
    string(REPLACE "/" "-" name ${name})
    add_test(NAME docs.${name} COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/page.py ${page} ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
    set_tests_properties(docs.${name} PROPERTIES LABELS quick TIMEOUT 600 SKIP_RETURN_CODE 77)
  endif()
endforeach()
set_tests_properties(docs.sharing docs.readme docs.predictors PROPERTIES LABELS slow)
# Every command line of the manual, of help and of messages can be typed.
add_test(NAME docs.commands COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/commands.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
# The tests that tests/faults.md names are there.
add_test(NAME docs.faults COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/faults.py ${CMAKE_SOURCE_DIR})
# A reader's first questions are answered within two links of README.
add_test(NAME docs.paths COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/paths.py ${CMAKE_SOURCE_DIR})
# The pictures say what the program shows today.
add_test(NAME docs.pictures COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/pictures.py charts ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
add_test(NAME docs.page_pictures COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/pictures.py page ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
set_tests_properties(docs.pictures docs.page_pictures PROPERTIES LABELS slow TIMEOUT 600 SKIP_RETURN_CODE 77)
# The manual stays short and readable.
foreach(what weight language)
  add_test(NAME docs.${what} COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/words.py ${what} ${CMAKE_SOURCE_DIR})
endforeach()
set_tests_properties(docs.commands docs.faults docs.paths docs.weight docs.language PROPERTIES LABELS quick)
# take three seconds or more each
set_tests_properties(docs.bisect PROPERTIES LABELS "slow")
