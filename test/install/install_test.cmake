# cmake -D STEP=<step> ... -P install_test.cmake: installs the build and uses it as other projects would.
#
# stage         installs under one prefix and moves it to another, where every later step finds it
# package       builds consumers by find_package(ringlet CONFIG), C++ alone and with C, and runs them
# pkg_config    builds consumers by pkg-config and runs them
# subproject    configures a project that has ringlet as a subdirectory
foreach(variable STEP BUILD_DIR SOURCE_DIR WORK_DIR GENERATOR CXX CC SHARED)
  if(NOT DEFINED ${variable})
    message(FATAL_ERROR "-D ${variable}= is missing")
  endif()
endforeach()
set(prefix ${WORK_DIR}/moved)
set(here ${SOURCE_DIR}/test/install)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}\nended with ${status}")
  endif()
endfunction()

# Runs a program alone and, in a build with MPI, as two ranks; its argument is the number of ranks it must find.
function(run_program program)
  run(${program} 1)
  if(MPIEXEC)
    run(${MPIEXEC} -n 2 ${program} 2)
  endif()
endfunction()

function(configure source binary)
  file(REMOVE_RECURSE ${binary})
  run(${CMAKE_COMMAND} -S ${source} -B ${binary} -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=Release ${ARGN})
endfunction()

function(step_stage)
  file(REMOVE_RECURSE ${WORK_DIR})
  run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/staged)
  file(RENAME ${WORK_DIR}/staged ${prefix})
  # Nothing that is installed may know where it was built, or installed first.
  file(GLOB_RECURSE texts ${prefix}/*.cmake ${prefix}/*.pc ${prefix}/*.hpp ${prefix}/*.h)
  foreach(file IN LISTS texts)
    file(READ ${file} text)
    foreach(path ${WORK_DIR} ${BUILD_DIR} ${SOURCE_DIR})
      string(FIND "${text}" ${path} at)
      if(NOT at EQUAL -1)
        message(FATAL_ERROR "${file} names ${path}")
      endif()
    endforeach()
  endforeach()
  run(${prefix}/bin/ringlet-info)
endfunction()

function(step_package)
  configure(${here}/consumer ${WORK_DIR}/package -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_C_COMPILER=${CC} -D CONSUMER_WITH_C=ON
    -D CONSUMER_COMPONENTS=${COMPONENTS})
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/package)
  run_program(${WORK_DIR}/package/consumer_cpp)
  run_program(${WORK_DIR}/package/consumer_c)
  if(COMPONENTS)
    run_program(${WORK_DIR}/package/consumer_mpi)
  endif()
  configure(${here}/consumer ${WORK_DIR}/package_cxx -D CMAKE_PREFIX_PATH=${prefix})
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/package_cxx)
  run_program(${WORK_DIR}/package_cxx/consumer_cpp)
endfunction()

function(pkg_config variable)
  execute_process(COMMAND ${PKG_CONFIG} ${ARGN} ringlet OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(output UNIX_COMMAND "${output}")
  set(${variable} ${output} PARENT_SCOPE)
endfunction()

function(step_pkg_config)
  file(GLOB_RECURSE file ${prefix}/*/ringlet.pc)
  cmake_path(GET file PARENT_PATH directory)
  set(ENV{PKG_CONFIG_PATH} ${directory})
  pkg_config(cflags --cflags)
  pkg_config(libs --libs)
  pkg_config(library_dir --variable=libdir)
  set(ENV{LD_LIBRARY_PATH} ${library_dir})
  run(${CXX} -std=c++20 ${cflags} ${here}/consumer/consumer.cpp -o ${WORK_DIR}/pc_cpp ${libs})
  run(${CC} -std=c99 ${cflags} -c ${here}/consumer/consumer.c -o ${WORK_DIR}/pc_c.o)
  run(${CXX} ${WORK_DIR}/pc_c.o -o ${WORK_DIR}/pc_c ${libs})
  run_program(${WORK_DIR}/pc_cpp)
  run_program(${WORK_DIR}/pc_c)
  if(SHARED)
    run(${CC} ${WORK_DIR}/pc_c.o -o ${WORK_DIR}/pc_c_alone ${libs})  # no C++ runtime named
    run_program(${WORK_DIR}/pc_c_alone)
  endif()
endfunction()

function(step_subproject)
  configure(${here}/subproject ${WORK_DIR}/subproject -D CMAKE_C_COMPILER=${CC} -D RINGLET_SOURCE_DIR=${SOURCE_DIR}
    -D RINGLET_WITH_MPI=${WITH_MPI})
endfunction()

cmake_language(CALL step_${STEP})
