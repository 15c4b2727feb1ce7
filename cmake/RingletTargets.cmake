set(RINGLET_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})
# For tests under Open MPI: containers run as root, and ranks outnumber cores.
set(RINGLET_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_mpi_yield_when_idle=1)

# Flags we compile with; never exported. Floating point must give the same bits in every build: no contraction into fma.
add_library(ringlet_private_flags INTERFACE)
# g++ 12 sees overflows in std::string's own operator+ (its bugs 105329 and 105651): those two warnings are worth nothing there.
target_compile_options(ringlet_private_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Werror;-Wno-restrict;-Wno-stringop-overflow;-ffp-contract=off>
  $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wpedantic;-Werror>)
if(RINGLET_SANITIZE)
  target_compile_options(ringlet_private_flags INTERFACE -fsanitize=${RINGLET_SANITIZE} -fno-omit-frame-pointer
    -Wno-maybe-uninitialized)  # g++ 12 sees ghosts in instrumented code (GCC PR 105562)
  target_link_options(ringlet_private_flags INTERFACE -fsanitize=${RINGLET_SANITIZE})
endif()

# ringlet_add_layer(<name> SOURCES ... [LINKS ...]): one folder, one object library, for ringlet_link_layers() to fold into ringlet.
function(ringlet_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
  add_library(ringlet_${name} OBJECT ${arg_SOURCES})
  target_include_directories(ringlet_${name} PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(ringlet_${name} PRIVATE ringlet_private_flags fmt::fmt Threads::Threads ${arg_LINKS})
  set_property(GLOBAL APPEND PROPERTY RINGLET_LAYERS ringlet_${name})
  set_property(GLOBAL APPEND PROPERTY RINGLET_LINKS ${arg_LINKS})
endfunction()

# ringlet_link_layers(<library>): the objects of all layers, and what they need. A shared library gives away no other symbols than its own:
# hidden visibility does not hide what the standard library's headers instantiate.
function(ringlet_link_layers library)
  get_property(layers GLOBAL PROPERTY RINGLET_LAYERS)
  get_property(links GLOBAL PROPERTY RINGLET_LINKS)
  list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  list(REMOVE_DUPLICATES links)
  target_sources(${library} PRIVATE ${objects})
  target_link_libraries(${library} PRIVATE Threads::Threads fmt::fmt ${links})
  get_target_property(type ${library} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    target_link_options(${library} PRIVATE LINKER:--version-script=${RINGLET_CMAKE_DIR}/ringlet.map)
    set_target_properties(${library} PROPERTIES LINK_DEPENDS ${RINGLET_CMAKE_DIR}/ringlet.map)
    if(RINGLET_SANITIZE)
      target_link_options(${library} PRIVATE -fsanitize=${RINGLET_SANITIZE})
    else()
      target_link_options(${library} PRIVATE LINKER:--no-undefined)
    endif()
  endif()
endfunction()

# ringlet_add_program(<name> SOURCES ... [LINKS ...] [INTERNAL]): an executable on the public headers, or (INTERNAL) on all of them. What
# is inside the library is not to be seen from outside a shared one, so INTERNAL links a static copy then.
function(ringlet_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL" "" "SOURCES;LINKS")
  add_executable(${name} ${arg_SOURCES})
  if(arg_INTERNAL)
    target_include_directories(${name} PRIVATE
      ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/test ${PROJECT_BINARY_DIR}/generated)
    set(library ringlet_internal)
  else()
    set(library ringlet)
  endif()
  target_link_libraries(${name} PRIVATE ${library} ringlet_private_flags fmt::fmt Threads::Threads ${arg_LINKS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# ringlet_add_test_main(): Catch's main and its precompiled header, which take longer to compile than most tests: once for all.
function(ringlet_add_test_main)
  add_library(ringlet_test_main OBJECT
    ${PROJECT_SOURCE_DIR}/test/support/main.cpp ${PROJECT_SOURCE_DIR}/test/support/catch.cpp)
  target_include_directories(ringlet_test_main PRIVATE ${PROJECT_SOURCE_DIR}/test)
  target_link_libraries(ringlet_test_main PRIVATE ringlet_private_flags Catch2::Catch2 Threads::Threads)
  # as the programs that share the header are compiled
  set_target_properties(ringlet_test_main PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(ringlet_test_main PRIVATE -fPIE)
  target_compile_definitions(ringlet_test_main PRIVATE FMT_SHARED)
  target_precompile_headers(ringlet_test_main PRIVATE ${PROJECT_SOURCE_DIR}/test/support/catch.hpp)
  # they define what makes catch.hpp a program, so they must be the first to include it
  # and nobody waits for Catch itself
  set_source_files_properties(${PROJECT_SOURCE_DIR}/test/support/main.cpp PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -O0)
endfunction()

# ringlet_add_test(<name> SOURCES ... LABELS ... [RANKS 1 2 4] [TIMEOUT s] [LINKS ...]): one ctest entry, or with RANKS one for each rank
# count under mpiexec, with the main of test/support/mpi_main.cpp. Exit status 77 is a skip.
function(ringlet_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LABELS;RANKS;LINKS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(arg_RANKS)
    set(main ${PROJECT_SOURCE_DIR}/test/support/mpi_main.cpp)
    set_source_files_properties(${main} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  else()
    set(main $<TARGET_OBJECTS:ringlet_test_main>)
  endif()
  ringlet_add_program(${name} INTERNAL SOURCES ${arg_SOURCES} ${main} LINKS Catch2::Catch2 ${arg_LINKS})
  target_precompile_headers(${name} REUSE_FROM ringlet_test_main)
  if(NOT arg_RANKS)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77)
  endif()
  foreach(p IN LISTS arg_RANKS)
    add_test(NAME ${name}.p${p} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${p} ${RINGLET_MPIEXEC_FLAGS} $<TARGET_FILE:${name}>)
    set_tests_properties(${name}.p${p} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS 2 SKIP_RETURN_CODE 77
      ENVIRONMENT "${RINGLET_MPI_ENVIRONMENT}")
  endforeach()
endfunction()

# ringlet_compose_plugins(<factory>...): writes the one file that knows which back ends were compiled, a layer of its own.
function(ringlet_compose_plugins)
  set(declarations "")
  set(entries "")
  foreach(factory IN LISTS ARGN)
    string(APPEND declarations "TransportFactory ${factory}();\n")
    string(APPEND entries "${factory}(), ")
  endforeach()
  configure_file(${RINGLET_CMAKE_DIR}/plugins.cpp.in ${PROJECT_BINARY_DIR}/generated/plugins.cpp @ONLY)
  ringlet_add_layer(plugins SOURCES ${PROJECT_BINARY_DIR}/generated/plugins.cpp)
endfunction()
