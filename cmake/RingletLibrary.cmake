# The libraries that the layers make: ringlet, ringlet::mpi for programs that include ringlet/mpi.hpp, and what tests of the inside link.
add_library(ringlet)
add_library(ringlet::ringlet ALIAS ringlet)
ringlet_link_layers(ringlet)
target_compile_features(ringlet PUBLIC cxx_std_20)
# Before version 1 any minor version may change the binary interface.
set_target_properties(ringlet PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_sources(ringlet PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES
  include/ringlet/collectives.hpp include/ringlet/error.hpp include/ringlet/export.hpp include/ringlet/handle.hpp
  include/ringlet/hvd.hpp include/ringlet/observe.hpp include/ringlet/optimizer.hpp include/ringlet/ringlet.h
  include/ringlet/ringlet.hpp include/ringlet/runtime.hpp include/ringlet/tensor.hpp)

if(RINGLET_WITH_MPI)
  # Apart, so that programs on a shared ringlet need no MPI of their own.
  add_library(ringlet_mpi_header INTERFACE)
  add_library(ringlet::mpi ALIAS ringlet_mpi_header)
  set_target_properties(ringlet_mpi_header PROPERTIES EXPORT_NAME mpi VERIFY_INTERFACE_HEADER_SETS ON)
  target_link_libraries(ringlet_mpi_header INTERFACE ringlet MPI::MPI_C)
  # mpi.h must not pull in the C++ bindings
  target_compile_definitions(ringlet_mpi_header INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_sources(ringlet_mpi_header INTERFACE FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES
    include/ringlet/mpi.hpp)
endif()

# What programs of ours that look inside link; in a static build that is ringlet itself.
if(BUILD_SHARED_LIBS)
  add_library(ringlet_internal STATIC EXCLUDE_FROM_ALL)
  ringlet_link_layers(ringlet_internal)
  target_include_directories(ringlet_internal INTERFACE ${PROJECT_SOURCE_DIR}/include)
  target_compile_features(ringlet_internal PUBLIC cxx_std_20)
else()
  add_library(ringlet_internal ALIAS ringlet)
endif()
