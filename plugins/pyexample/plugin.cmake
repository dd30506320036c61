# A wrapped program has nothing to build: its folder is linked into the search path of the built
# program, and installed as it stands.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/plugins)
file(CREATE_LINK ${ORCH_TREE}/plugins/pyexample ${CMAKE_BINARY_DIR}/plugins/pyexample SYMBOLIC)
install(FILES ${ORCH_TREE}/plugins/pyexample/pyexample.plugin
              ${ORCH_TREE}/plugins/pyexample/train.py
        DESTINATION lib/orch/plugins/pyexample)
