# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What `cmake --install` puts under a prefix: the tools, the plugin, the static
# libraries, libcutback.so, headers with what TableGen wrote beside them, .td
# files for those who write dialects against our interfaces, lib/cmake/Cutback,
# with which find_package(Cutback) finds all that, and lib/pkgconfig/cutback.pc
# for programs that use the C interface. What was not built is left out, so that
# a build of the driver alone can be installed. Included last: it lists the
# libraries.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(CUTBACK_INSTALLED GLOBAL PROPERTY CUTBACK_LIBRARIES)
install(TARGETS CutbackMLIR ${CUTBACK_INSTALLED} EXPORT CutbackTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
foreach(tool cutback cutback-opt cutback-lsp-server)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
            OPTIONAL)
  endif()
endforeach()
if(TARGET CutbackPlugin)
  install(TARGETS CutbackPlugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          OPTIONAL)
endif()
# What travels with compiled steps: `--component CutbackRun`.
if(TARGET CutbackStepShared)
  install(TARGETS cutback-run RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
          COMPONENT CutbackRun OPTIONAL)
  install(TARGETS CutbackStepShared LIBRARY
          DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT CutbackRun OPTIONAL)
  get_property(libraries GLOBAL PROPERTY CUTBACK_MPI_LIBRARIES)
  foreach(library ${libraries})
    install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            COMPONENT CutbackRun OPTIONAL)
  endforeach()
  install(FILES include/cutback-c/Hook.h include/cutback-c/Status.h
                include/cutback-c/Step.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cutback-c
          COMPONENT CutbackRun)
endif()
# The C interface is a component of its own: `--component CutbackC`.
if(TARGET CutbackShared)
  install(TARGETS CutbackShared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          COMPONENT CutbackC OPTIONAL)
  # From the folder of cutback.pc to the prefix, wherever that is moved.
  file(RELATIVE_PATH CUTBACK_PC_PREFIX
       ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  configure_file(lib/pkgconfig/cutback.pc.in
                 ${PROJECT_BINARY_DIR}/pkgconfig/cutback.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/cutback.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT CutbackC)
endif()
install(DIRECTORY include/cutback-c DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT CutbackC FILES_MATCHING PATTERN "*.h")
install(DIRECTORY include/cutback DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/cutback
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING
        REGEX "(\\.h|AtenElements|AtenOpNames|AtenOps|AtenParameters)\\.inc$")

set(CUTBACK_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Cutback)
install(EXPORT CutbackTargets NAMESPACE Cutback::
        DESTINATION ${CUTBACK_CMAKE_DIR})
configure_package_config_file(
    lib/cmake/CutbackConfig.cmake.in
    ${PROJECT_BINARY_DIR}/cmake/CutbackConfig.cmake
    INSTALL_DESTINATION ${CUTBACK_CMAKE_DIR}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR
              CMAKE_INSTALL_LIBDIR)
# Before version 1 a minor version may change what it likes.
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/cmake/CutbackConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/CutbackConfig.cmake
              ${PROJECT_BINARY_DIR}/cmake/CutbackConfigVersion.cmake
        DESTINATION ${CUTBACK_CMAKE_DIR})
