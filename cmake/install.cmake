# What C and C++ applications get: headers, libraries, plugins beside them, the CMake package
# `foveal` and pkg-config files. All of it is the component `sdk`; the Python package is the
# component `python`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(FOVEAL_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/foveal)

# plugin.hpp, for authors of plugins, needs sdk_core/base and is used from the source tree.
install(FILES sdk_core/include/foveal/foveal.h sdk_core/include/foveal/foveal.hpp
              sdk_core/include/foveal/plugin.h sdk_core/include/foveal/types.h
              imgproc/include/foveal/imgproc.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/foveal COMPONENT sdk)

set_target_properties(foveal_imgproc PROPERTIES EXPORT_NAME imgproc)
install(TARGETS foveal foveal_imgproc EXPORT fovealTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT sdk
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT sdk
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT sdk)
install(EXPORT fovealTargets NAMESPACE foveal:: DESTINATION ${FOVEAL_CMAKE_DIR} COMPONENT sdk)
if(NOT cpu IN_LIST FOVEAL_STATIC_PLUGINS)
  # Where libfoveal looks by itself: sdk_core/plugin/library.h.
  install(TARGETS foveal_cpu
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/foveal/plugins COMPONENT sdk)
endif()

set(FOVEAL_STATIC OFF)
if(NOT BUILD_SHARED_LIBS)
  set(FOVEAL_STATIC ON)
endif()
configure_package_config_file(cmake/fovealConfig.cmake.in ${CMAKE_BINARY_DIR}/fovealConfig.cmake
                              INSTALL_DESTINATION ${FOVEAL_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/fovealConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/fovealConfig.cmake ${CMAKE_BINARY_DIR}/fovealConfigVersion.cmake
        DESTINATION ${FOVEAL_CMAKE_DIR} COMPONENT sdk)

# Relocatable: the prefix is where the file lies.
file(RELATIVE_PATH FOVEAL_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" FOVEAL_PC_PREFIX ${FOVEAL_PC_PREFIX})
set(FOVEAL_PC_RUNTIME "")
if(NOT BUILD_SHARED_LIBS)
  # Programs in C need to be told of the C++ library; in shared libraries it is inside.
  foreach(library ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
    if(library MATCHES "^(stdc\\+\\+|c\\+\\+)$")
      string(APPEND FOVEAL_PC_RUNTIME " -l${library}")
    endif()
  endforeach()
  string(APPEND FOVEAL_PC_RUNTIME " -lm")
  if(TARGET Threads::Threads)
    string(APPEND FOVEAL_PC_RUNTIME " -pthread")
  endif()
  if(CMAKE_DL_LIBS)
    string(APPEND FOVEAL_PC_RUNTIME " -l${CMAKE_DL_LIBS}")
  endif()
endif()
foreach(FOVEAL_PC_NAME foveal foveal_imgproc)
  set(FOVEAL_PC_ABOUT "Embeddable inference: models, sessions, plugins")
  if(FOVEAL_PC_NAME STREQUAL foveal_imgproc)
    set(FOVEAL_PC_ABOUT "Camera frames to tensors, model outputs to frame coordinates")
  endif()
  configure_file(cmake/foveal.pc.in ${CMAKE_BINARY_DIR}/${FOVEAL_PC_NAME}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${FOVEAL_PC_NAME}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT sdk)
endforeach()
