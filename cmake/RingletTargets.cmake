# Flags we compile with; never exported. Floating point must give the same bits in every build: no contraction into fma.
add_library(ringlet_private_flags INTERFACE)
target_compile_options(ringlet_private_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Werror;-ffp-contract=off>
  $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wpedantic;-Werror>)
if(RINGLET_SANITIZE)
  target_compile_options(ringlet_private_flags INTERFACE -fsanitize=${RINGLET_SANITIZE} -fno-omit-frame-pointer
    -Wno-maybe-uninitialized)  # g++ 12 sees ghosts in instrumented code (GCC PR 105562)
  target_link_options(ringlet_private_flags INTERFACE -fsanitize=${RINGLET_SANITIZE})
endif()

# ringlet_add_layer(<name> SOURCES ... [LINKS ...]): one folder, one object library, folded into ringlet.
function(ringlet_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
  add_library(ringlet_${name} OBJECT ${arg_SOURCES})
  target_include_directories(ringlet_${name} PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(ringlet_${name} PRIVATE ringlet_private_flags fmt::fmt Threads::Threads ${arg_LINKS})
  target_sources(ringlet PRIVATE $<TARGET_OBJECTS:ringlet_${name}>)
  target_link_libraries(ringlet PRIVATE ${arg_LINKS})
endfunction()

# ringlet_add_program(<name> SOURCES ... [LINKS ...] [INTERNAL]): an executable on the public headers, or (INTERNAL) on all of them.
function(ringlet_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL" "" "SOURCES;LINKS")
  add_executable(${name} ${arg_SOURCES})
  if(arg_INTERNAL)
    target_include_directories(${name} PRIVATE
      ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/test ${PROJECT_BINARY_DIR}/generated)
  endif()
  target_link_libraries(${name} PRIVATE ringlet ringlet_private_flags fmt::fmt Threads::Threads ${arg_LINKS})
endfunction()

# ringlet_add_test(<name> SOURCES ... LABELS ... [RANKS 1 2 4] [TIMEOUT s] [LINKS ...]): one ctest entry for each case, or with RANKS
# one for each rank count under mpiexec. Exit status 77 is a skip.
function(ringlet_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LABELS;RANKS;LINKS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  ringlet_add_program(${name} INTERNAL SOURCES ${arg_SOURCES} LINKS Catch2::Catch2 ${arg_LINKS})
  target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/test/support/catch.hpp)
  # it defines what makes catch.hpp a program, so it must be the first to include it
  set_source_files_properties(${PROJECT_SOURCE_DIR}/test/support/main.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  if(NOT arg_RANKS)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77)
  endif()
  foreach(p IN LISTS arg_RANKS)
    add_test(NAME ${name}.p${p} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${p} ${RINGLET_MPIEXEC_FLAGS} $<TARGET_FILE:${name}>)
    set_tests_properties(${name}.p${p} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS 2 SKIP_RETURN_CODE 77
      ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1")
  endforeach()
endfunction()

# ringlet_compose_plugins(<target> <factory>...): writes the one file that knows which back ends were compiled.
function(ringlet_compose_plugins target)
  set(declarations "")
  set(entries "")
  foreach(factory IN LISTS ARGN)
    string(APPEND declarations "TransportFactory ${factory}();\n")
    string(APPEND entries "${factory}(), ")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/plugins.cpp.in ${PROJECT_BINARY_DIR}/generated/plugins.cpp @ONLY)
  target_sources(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated/plugins.cpp)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
endfunction()
