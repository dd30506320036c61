# What people outside of this tree build against and read: the header for plugins with a pkg-config file,
# the manuals, the recipes, completion. Programs, plugins and templates are installed by their own folders.
# Relative to the file itself, so that a DESTDIR, a moved prefix and one given at install time are right.
file(WRITE ${CMAKE_BINARY_DIR}/orch.pc "prefix=\${pcfiledir}/../..
includedir=\${prefix}/include
plugindir=\${prefix}/lib/orch/plugins

Name: orch
Description: header for experiments that run under orch (cc -shared -fPIC; they link nothing of orch)
Version: ${PROJECT_VERSION}
Cflags: -I\${includedir}
")
install(FILES ${CMAKE_BINARY_DIR}/orch.pc DESTINATION share/pkgconfig)
install(FILES ${CMAKE_SOURCE_DIR}/include/orch/plugin.h DESTINATION include/orch)

install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/CHANGELOG.md
        DESTINATION share/doc/orch)
install(FILES ${CMAKE_SOURCE_DIR}/share/fonts/LICENSE DESTINATION share/doc/orch RENAME LICENSE.DejaVuSans)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/ DESTINATION share/doc/orch/docs FILES_MATCHING PATTERN *.md)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/share/hardware ${CMAKE_SOURCE_DIR}/share/measured ${CMAKE_SOURCE_DIR}/share/networks DESTINATION share/orch)
install(FILES ${CMAKE_SOURCE_DIR}/share/questions.tsv DESTINATION share/orch)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/recipes/ DESTINATION share/doc/orch/recipes
        FILES_MATCHING PATTERN *.recipe PATTERN *.xml)
