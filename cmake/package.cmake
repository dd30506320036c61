# Debian packages ('./build.sh deb' calls cpack): one of each component of the install rules, from what was built in this tree.
#   orch                  the program and all that needs no large library
#   orch-dev              the kit for compiled plugins
#   orch-plugins-torch    the adapter of Debian's LibTorch
#   orch-plugins-torch-source   its sources, from which 'orch plugin build' makes that of another PyTorch
#   orch-plugins-mpi      the plugins that link MPI
#   orch-plugins-opencv, orch-plugins-simgrid
# packaging/deb/config.cmake sets what is known only when cpack runs, finish.cmake adds what Debian's policy asks for.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME orch)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "the authors of orch")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/packaging/deb/config.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/packaging/deb/finish.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# read by finish.cmake and config.cmake
set(CPACK_ORCH_SOURCE ${CMAKE_SOURCE_DIR})
set(CPACK_ORCH_TORCH_FOLDER "${ORCH_TORCH_LIBRARY_FOLDER}")

set(CPACK_DEBIAN_ORCH_PACKAGE_NAME orch)
set(CPACK_DEBIAN_ORCH_DESCRIPTION "run experiments from recipes and record every result
orch runs the trials of a recipe, each in a process of its own, and records
every parameter, metric and artifact in one SQLite file under the git tree
that produced it. The same command again runs only what is missing. Results
are shared through git, a folder or a file, without a server.

This package has the program, its manuals and plugins, and the module for
Python scripts that record themselves.")
# opened when they are needed: libcurl for downloads, hwloc for the topology of the machine
set(CPACK_DEBIAN_ORCH_PACKAGE_RECOMMENDS
    "git, ca-certificates, python3, libcurl4t64 | libcurl4 | libcurl3t64-gnutls | libcurl3-gnutls, libhwloc15")
set(CPACK_DEBIAN_ORCH_PACKAGE_SUGGESTS "orch-plugins-torch, weasyprint")
set(CPACK_DEBIAN_ORCH_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/deb/postinst
    ${CMAKE_SOURCE_DIR}/packaging/deb/postrm)

# orch_plugin_package(COMPONENT TITLE TEXT [RECOMMENDS])
function(orch_plugin_package component title text)
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME orch-plugins-${component} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_DESCRIPTION "${title}\n${text}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_RECOMMENDS "${ARGN}" PARENT_SCOPE)
endfunction()
orch_plugin_package(torch "training with orch by LibTorch"
  "The module that the training plugins of orch load: it trains networks with
LibTorch. Without it, trials of these plugins end as skipped.")
set(CPACK_DEBIAN_ADAPTER_PACKAGE_NAME orch-plugins-torch-source)
set(CPACK_DEBIAN_ADAPTER_DESCRIPTION "sources of orch's LibTorch adapter
The command 'orch plugin build train' compiles them, in a user's cache, for
a PyTorch that is not Debian's, such as that of a virtual environment.")
set(CPACK_DEBIAN_KIT_PACKAGE_NAME orch-dev)
set(CPACK_DEBIAN_KIT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_KIT_DESCRIPTION "libraries for compiled plugins of orch
Static libraries, headers and CMake functions that orch's own plugins are
built with: texts, files and errors, networks, weights, data sets.")
orch_plugin_package(mpi "plugins of orch for several processes by MPI"
  "The plugins that add gradients over the processes of MPI and measure how a
training scales: allreduce, asyncsgd and scaling." "openmpi-bin, orch-plugins-torch")
orch_plugin_package(opencv "ONNX files run by OpenCV with orch"
  "The engine with which plugin onnxrun of orch runs ONNX files by OpenCV.")
orch_plugin_package(simgrid "simulated clusters for orch"
  "The worker with which plugin simcluster of orch simulates clusters by SimGrid." "libsimgrid-dev")
# said, since cpack takes a tree of one component for one without components
get_cmake_property(CPACK_COMPONENTS_ALL COMPONENTS)
list(REMOVE_ITEM CPACK_COMPONENTS_ALL alone) # for wheels (plugins/common/comm/CMakeLists.txt)
include(CPack)
