# lib/base: numbers in order
orch_test(reals "quick" orch_base)
# people: names, addresses, who is the same
orch_test(who "quick" orch_base)
# texts that anybody may have written
orch_test(text "quick" orch_base)
# SHA-256, as fast as can be
orch_test(sha256 "quick" orch_base)
# files below a folder: no link is followed
orch_test(below "quick" orch_base)
# trees of any depth
orch_test(walk "quick" orch_base)
# errors and their hints
orch_test(error "quick" orch_base)
# what orch lacks and what adds it, by where it is installed
orch_test(program_parts "quick" orch_base)
# programs that hang or write without an end
orch_test(subprocess "quick" orch_base)
# files in a folder that others may write to
orch_test(shared_file "quick" orch_base)
# a curve of bounded size
orch_test(thin "quick" orch_base)
# the order in which libraries are opened: libouter.so needs libinner.so in a folder of its DT_RUNPATH
add_library(inner MODULE ${CMAKE_CURRENT_LIST_DIR}/libraries/inner.c)
set_target_properties(inner PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/libraries/below)
add_library(outer MODULE ${CMAKE_CURRENT_LIST_DIR}/libraries/outer.c)
set_target_properties(outer PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/libraries BUILD_RPATH "\$ORIGIN/below")
target_link_options(outer PRIVATE -Wl,--no-as-needed -Wl,--enable-new-dtags)
target_link_libraries(outer PRIVATE -L${CMAKE_BINARY_DIR}/tests/libraries/below -linner)
add_dependencies(outer inner)
foreach(library inner outer)
  target_compile_options(${library} PRIVATE -fvisibility=default)
endforeach()
orch_test(library "quick" orch_torch)
add_dependencies(test_library outer)
set_tests_properties(unit.library PROPERTIES ENVIRONMENT "${ORCH_TEST_ENVIRONMENT};ORCH_TEST_LIBRARY=$<TARGET_FILE:outer>")
