# An installation that may be moved: CMake package, pkg-config file, library and headers.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ringlet)
install(TARGETS ringlet EXPORT ringlet-targets FILE_SET HEADERS)
if(RINGLET_WITH_MPI)
  install(TARGETS ringlet_mpi_header EXPORT ringlet-targets FILE_SET HEADERS)
endif()
install(EXPORT ringlet-targets NAMESPACE ringlet:: DESTINATION ${package_dir})

configure_package_config_file(${RINGLET_CMAKE_DIR}/ringlet-config.cmake.in ${PROJECT_BINARY_DIR}/ringlet-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ringlet-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ringlet-config.cmake ${PROJECT_BINARY_DIR}/ringlet-config-version.cmake
  DESTINATION ${package_dir})

# Who links a static library links what it needs; a shared one brings that along.
set(pc_requires "fmt, spdlog")
set(pc_libs -pthread)
if(RINGLET_WITH_MPI)
  list(APPEND pc_libs ${MPI_C_LIBRARIES} ${MPI_C_LINK_FLAGS})
endif()
list(JOIN pc_libs " " pc_libs)
if(BUILD_SHARED_LIBS)
  set(pc_requires "")
  set(pc_libs "")
endif()
file(RELATIVE_PATH pc_up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${RINGLET_CMAKE_DIR}/ringlet.pc.in ${PROJECT_BINARY_DIR}/ringlet.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ringlet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE TYPE DOC)

file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(programs ringlet-info)
foreach(program ringlet-train ringlet_allreduce ringlet_fusion ringlet_idle)
  if(TARGET ${program})
    list(APPEND programs ${program})
  endif()
endforeach()
set_target_properties(${programs} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
install(TARGETS ${programs})
