# tests/test_<suite>.c is one Check suite and one program; the other tests/*.c are helpers for all.
find_package(PkgConfig REQUIRED)
pkg_check_modules(CHECK REQUIRED IMPORTED_TARGET check)

file(GLOB suite_sources CONFIGURE_DEPENDS tests/test_*.c)
file(GLOB helper_sources CONFIGURE_DEPENDS tests/*.c)
list(REMOVE_ITEM helper_sources ${suite_sources})

# Check, with failures that have the line of a test: for that, programs keep the lines and the frames of
# their functions: a call at the end of a test is no jump.
add_library(rdim_check STATIC tests/failure.c)
set_target_properties(rdim_check PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF)
list(FILTER helper_sources EXCLUDE REGEX "/failure\\.c$")
target_compile_options(rdim_check PUBLIC -g1 -fno-optimize-sibling-calls)
target_link_libraries(rdim_check PUBLIC PkgConfig::CHECK ${CMAKE_DL_LIBS} PRIVATE rdim_warnings)

add_library(rdim_support INTERFACE)
target_link_libraries(rdim_support INTERFACE rdim_parts rdim_check rdim_warnings)
if(helper_sources)
    add_library(rdim_helpers STATIC ${helper_sources})
    set_target_properties(rdim_helpers PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF)
    target_link_libraries(rdim_helpers PRIVATE rdim_parts rdim_check rdim_warnings)
    target_compile_definitions(rdim_helpers PRIVATE FAKE_CUDA="${PROJECT_BINARY_DIR}/tests/fake_cuda.so"
        FAKE_NVRTC="${PROJECT_BINARY_DIR}/tests/fake_nvrtc.so" FAKE_CUBLAS="${PROJECT_BINARY_DIR}/tests/fake_cublas.so"
        FAKE_OLD_CUDA="${PROJECT_BINARY_DIR}/tests/fake_old_cuda.so")
    # Written before rdim_parts, as the helpers call it.
    target_link_libraries(rdim_support INTERFACE rdim_helpers)
endif()

# The thread sanitizer has nothing to see in suites that call kernels, files and the planner from one thread; nor in
# those of compiled loops and of loop trees, as loops that a compiler made at run time are not instrumented.
set(of_one_thread asking async cases complex core cublas cuda cuda_api cuda_auto cuda_exp cuda_fast cuda_schemes
    cuda_tuning device_faults devices dlpack_header expr fold formula formula_functions formula_results halves
    io_faults kernels least loops loops_faults loops_random masks math npy npy_files ops oracle points refusals scan
    semantics semantics_axes
    semantics_complex semantics_dlpack semantics_folds semantics_groups semantics_lists semantics_memory
    semantics_products semantics_scans semantics_sort several sparse sparse_memory stages strips tiles tiles_folds
    tiles_scans totals users virtual_shape windows
    apart beside bytes forms fronts gpu_trees interleaved intervals items lookups loop_facts loop_meets loop_passes loop_tables
    failure names narrow pair_folds price residue rest short_axes twins window_folds)
# What NVRTC itself does takes nearly all of this suite's time, and no sanitizer sees it.
set(of_nvrtc cuda_kernels)

foreach(source IN LISTS suite_sources)
    cmake_path(GET source STEM program)
    string(REGEX REPLACE "^test_" "" suite ${program})
    if(CMAKE_C_FLAGS MATCHES "-fsanitize=thread" AND suite IN_LIST of_one_thread)
        continue()
    endif()
    if(CMAKE_C_FLAGS MATCHES "-fsanitize" AND suite IN_LIST of_nvrtc)
        continue()
    endif()
    add_executable(${program} ${source})
    set_target_properties(${program} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests C_STANDARD 11 C_EXTENSIONS OFF)
    target_include_directories(${program} PRIVATE tests)
    target_link_libraries(${program} PRIVATE rdim_support)
    add_test(NAME ${suite} COMMAND ${program} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    list(APPEND rdim_tests ${suite})
endforeach()

# Functions of these suites take the place of the system's: the library's calls go through them.
target_link_options(test_allocation_faults PRIVATE -Wl,--wrap=realloc)
if(TARGET test_io_faults)
    foreach(function IN ITEMS open read pread write fsync close rename mmap fstat lstat fchmod)
        target_link_options(test_io_faults PRIVATE -Wl,--wrap=${function})
    endforeach()
endif()

# ---- The library as a guest in somebody's process: tests/guest -------------------------------------------
# They load the shared library, which sanitizers of gcc would want to be loaded before.
if(BUILD_SHARED_LIBS AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
    add_executable(guest_unloaded tests/guest/unloaded.c)
    target_link_libraries(guest_unloaded PRIVATE rdim_warnings ${CMAKE_DL_LIBS})
    target_include_directories(guest_unloaded PRIVATE include ${PROJECT_BINARY_DIR}/include)
    foreach(threads IN ITEMS 1 2)
        add_test(NAME guest_unloaded_${threads} COMMAND guest_unloaded $<TARGET_FILE:rdim> ${threads})
        list(APPEND rdim_tests guest_unloaded_${threads})
    endforeach()
    # The thread that compiles keeps the library loaded, too.
    set_tests_properties(guest_unloaded_1 PROPERTIES ENVIRONMENT "RDIM_TIER1=off")
    set(guests guest_unloaded)
    if(OpenMP_C_FOUND)
        add_executable(guest_forked tests/guest/forked.c)
        target_link_libraries(guest_forked PRIVATE rdim::rdim rdim_warnings OpenMP::OpenMP_C)
        add_test(NAME guest_forked COMMAND guest_forked)
        list(APPEND rdim_tests guest_forked)
        list(APPEND guests guest_forked)
    endif()
    set_target_properties(${guests} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests C_STANDARD 11)
endif()

# ---- Hostile texts: tests/fuzz -----------------------------------------------------------------------
add_executable(fuzz_formula tests/fuzz/formula.c)
set_target_properties(fuzz_formula PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests C_STANDARD 11 C_EXTENSIONS OFF)
target_include_directories(fuzz_formula PRIVATE tests)
target_compile_definitions(fuzz_formula PRIVATE _POSIX_C_SOURCE=200809L)
target_link_libraries(fuzz_formula PRIVATE rdim_parts rdim_warnings)
if(RDIM_LIBFUZZER)
    target_compile_definitions(fuzz_formula PRIVATE FUZZ_LIBFUZZER=1)
    target_link_options(fuzz_formula PRIVATE -fsanitize=fuzzer)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/corpus/formula)
    add_test(NAME fuzz_formula COMMAND fuzz_formula -runs=500 ${PROJECT_BINARY_DIR}/corpus/formula
        ${PROJECT_SOURCE_DIR}/tests/data/formulas)
else()
    add_test(NAME fuzz_formula COMMAND fuzz_formula tests/data/formulas WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endif()
list(APPEND rdim_tests fuzz_formula)
include(${PROJECT_SOURCE_DIR}/cmake/fuzz.cmake)

# ---- How exact elementary functions are: tests/accuracy ----------------------------------------------
# The exact results are MPFR's; test_math measures the same points by long double where there is none.
pkg_check_modules(MPFR QUIET IMPORTED_TARGET mpfr)
if(MPFR_FOUND AND NOT CMAKE_C_FLAGS MATCHES "fsanitize=thread")   # one thread
    file(GLOB accuracy_sources CONFIGURE_DEPENDS tests/accuracy/*.c)
    add_executable(accuracy ${accuracy_sources})
    set_target_properties(accuracy PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests C_STANDARD 11 C_EXTENSIONS OFF)
    target_include_directories(accuracy PRIVATE tests)
    target_link_libraries(accuracy PRIVATE rdim_parts PkgConfig::MPFR rdim_warnings)
    add_test(NAME accuracy COMMAND accuracy --check ${PROJECT_SOURCE_DIR}/docs/accuracy.md)
    list(APPEND rdim_tests accuracy)
elseif(NOT MPFR_FOUND)
    message(STATUS "no MPFR: tests/accuracy is not built")
endif()

# ---- A driver, an NVRTC and a cuBLAS for machines without a GPU: tests/cuda -------------------------
# In C++, as kernels are, which nothing else is.  With C's flags, as presets say there which sanitizers look; the address
# sanitizer looks at kernels, too.
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
    set(fakes ${PROJECT_SOURCE_DIR}/tests/cuda)
    set(nvrtc_sources ${fakes}/fake_nvrtc.cpp ${fakes}/fake_compiler.cpp)
    file(GLOB driver_sources CONFIGURE_DEPENDS ${fakes}/fake_*.cpp)
    list(REMOVE_ITEM driver_sources ${nvrtc_sources} ${fakes}/fake_cublas.cpp)
    add_library(fake_driver OBJECT ${driver_sources})
    set_target_properties(fake_driver PROPERTIES POSITION_INDEPENDENT_CODE ON)
    add_library(fake_cuda MODULE $<TARGET_OBJECTS:fake_driver>)
    # The same without what a driver may lack: RD_OPTIONAL in api.def.
    add_library(fake_old_cuda MODULE $<TARGET_OBJECTS:fake_driver>)
    target_link_options(fake_old_cuda PRIVATE -Wl,--version-script=${fakes}/old_driver.map)
    add_library(fake_nvrtc MODULE ${nvrtc_sources} ${fakes}/fake_faults.cpp)
    add_library(fake_cublas MODULE ${fakes}/fake_cublas.cpp ${fakes}/fake_faults.cpp)
    target_compile_definitions(fake_nvrtc PRIVATE RD_FAKE_SOURCES="${fakes}" RD_FAKE_CXX="${CMAKE_CXX_COMPILER}")
    foreach(file IN ITEMS fake_driver fake_nvrtc fake_cublas)
        set_target_properties(${file} PROPERTIES CXX_STANDARD 17 CXX_VISIBILITY_PRESET hidden)
        target_include_directories(${file} PRIVATE src)
        target_compile_options(${file} PRIVATE ${flags} -Wall -Wextra $<$<BOOL:${RDIM_WERROR}>:-Werror>)
    endforeach()
    foreach(file IN ITEMS fake_cuda fake_old_cuda fake_nvrtc fake_cublas)
        set_target_properties(${file} PROPERTIES PREFIX "" LINKER_LANGUAGE CXX
            LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
        target_link_libraries(${file} PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
        target_link_options(${file} PRIVATE ${flags} -Wl,--no-undefined)
    endforeach()
endif()
if(TARGET fake_cuda)
    add_dependencies(rdim_helpers fake_cuda fake_old_cuda fake_nvrtc fake_cublas)
    set(use_fakes
        "RDIM_LIBCUDA=$<TARGET_FILE:fake_cuda>;RDIM_LIBNVRTC=$<TARGET_FILE:fake_nvrtc>;RDIM_LIBCUBLAS=$<TARGET_FILE:fake_cublas>")
endif()
# The suite for a real GPU, on the fake one.  Without sanitizers, which want to be loaded before the fakes.
if(TARGET fake_cuda AND TARGET gpu_suite AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
    add_test(NAME gpu_suite COMMAND gpu_suite --seeds 12 --large 3 --programs 30 --first 5000 --seconds inf)
    set_tests_properties(gpu_suite PROPERTIES ENVIRONMENT
        "${use_fakes};RDIM_FAKE_STRICT=1")
    list(APPEND rdim_tests gpu_suite)
    add_test(NAME bench_gpu_smoke COMMAND rdim-bench-gpu --bytes 16384 --seconds inf)
    set_tests_properties(bench_gpu_smoke PROPERTIES ENVIRONMENT
        "${use_fakes};RDIM_FAKE_STRICT=1")
    list(APPEND on_fakes bench_gpu_smoke)
    # A GPU that is there and does not work is no reason to skip it, and no time none to pass.
    foreach(row IN ITEMS "fails;cuModuleLoadData:1=999;60" "compares_nothing;;0")
        list(POP_FRONT row what fail seconds)
        add_test(NAME gpu_suite_${what} COMMAND sh -c
            "$<TARGET_FILE:gpu_suite> --seeds 1 --large 1 --seconds ${seconds}; test $? = 1")
        set_tests_properties(gpu_suite_${what} PROPERTIES ENVIRONMENT
            "${use_fakes};RDIM_FAKE_FAIL=${fail}")
        list(APPEND on_fakes gpu_suite_${what})
    endforeach()
    # Suites about results, not about forms of the CPU's, with all evaluations on the fake GPU: in script/test all.
    set(with_cuda api_examples cases context faults halves npy_files products refusals semantics semantics_memory)
    foreach(suite IN LISTS with_cuda)
        add_test(NAME ${suite}_with_cuda WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
            COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/with-cuda.sh $<TARGET_FILE:test_${suite}>)
        set_tests_properties(${suite}_with_cuda PROPERTIES ENVIRONMENT
            "${use_fakes}")
        list(APPEND on_fakes ${suite}_with_cuda)
    endforeach()
    list(APPEND rdim_tests ${on_fakes})
endif()

# Our declarations of CUDA beside the toolkit's, where there is one; nothing of it is linked.
find_package(CUDAToolkit QUIET)
if(CUDAToolkit_FOUND AND TARGET test_cuda_api)
    target_include_directories(test_cuda_api SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
endif()

# Random expressions by nests, compiled before they run; each is a run of the compiler.
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
    add_test(NAME differential_compiled COMMAND test_differential WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(differential_compiled PROPERTIES ENVIRONMENT
        "RDIM_TIER1=sync;RDIM_CODEGEN=always;RD_DIFF_COUNT=12;RD_DIFF_LARGE=4")
    list(APPEND rdim_tests differential_compiled)
endif()

# As the kernels are compiled: gcc takes no comparison out of a branch that might trap, and its loops stay scalar.
set_source_files_properties(tests/test_math.c PROPERTIES COMPILE_OPTIONS -fno-trapping-math)

# ---- The command: runs of it, and broken files for each reader -------------------------------------
if(TARGET rdim_command AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
    foreach(suite IN ITEMS command command_names command_netcdf command_beside command_files command_formats command_tables command_times command_dates
                          command_units command_headers command_kept command_options command_records
                          command_stores)
        add_executable(test_${suite} tests/command/test_${suite}.c)
        set_target_properties(test_${suite} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests C_STANDARD 11 C_EXTENSIONS OFF)
        target_include_directories(test_${suite} PRIVATE tests)
        target_compile_definitions(test_${suite} PRIVATE _GNU_SOURCE RDIM_COMMAND="$<TARGET_FILE:rdim_command>"
            RDIM_CASES="${PROJECT_SOURCE_DIR}/tests/command/cases"
            RDIM_COOKBOOK="${PROJECT_SOURCE_DIR}/docs/cookbook.md"
            RDIM_FILES="${PROJECT_SOURCE_DIR}/tests/data/files")
        target_link_libraries(test_${suite} PRIVATE rdim_command_parts rdim_check rdim_warnings)
        add_dependencies(test_${suite} rdim_command)
        add_test(NAME ${suite} COMMAND test_${suite})
        list(APPEND rdim_tests ${suite})
    endforeach()

    add_executable(hostile tests/command/hostile.c)
    set_target_properties(hostile PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests C_STANDARD 11 C_EXTENSIONS OFF)
    target_compile_definitions(hostile PRIVATE _GNU_SOURCE)
    target_link_libraries(hostile PRIVATE rdim_command_parts rdim_warnings)
    file(GLOB cases CONFIGURE_DEPENDS tests/command/cases/*)
    set(hostile_rounds 60)
    if(CMAKE_C_FLAGS MATCHES "-fsanitize")
        set(hostile_rounds 20)   # a process each, of which a sanitizer takes a third of a second to begin
    endif()
    add_test(NAME command_hostile COMMAND hostile ${hostile_rounds}x 1 ${PROJECT_BINARY_DIR}/tests ${cases})
    list(APPEND rdim_tests command_hostile)

    # Failing calls of the system.  A sanitizer wants to be loaded before the shim.
    if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
        add_library(shim MODULE tests/command/shim.c)
        add_executable(faults tests/command/faults.c)
        set_target_properties(shim faults PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
        target_compile_definitions(shim PRIVATE _GNU_SOURCE)
        target_compile_definitions(faults PRIVATE _GNU_SOURCE)
        target_link_libraries(shim PRIVATE ${CMAKE_DL_LIBS} rdim_warnings)
        target_link_libraries(faults PRIVATE rdim_warnings)
        add_dependencies(faults shim rdim_command)
        add_test(NAME command_faults COMMAND faults $<TARGET_FILE:rdim_command> $<TARGET_FILE:shim>
            ${PROJECT_BINARY_DIR}/tests 60)
        set_tests_properties(command_faults PROPERTIES ENVIRONMENT
            "CASES=${PROJECT_SOURCE_DIR}/tests/command/cases;FILES=${PROJECT_SOURCE_DIR}/tests/data/files")
        list(APPEND rdim_tests command_faults)
    endif()
endif()

# ---- The header and the installed package, as a user meets them -----------------------------------
set(consumer ${PROJECT_SOURCE_DIR}/tests/consumer)
include(${PROJECT_SOURCE_DIR}/cmake/headers.cmake)

# C++ as the compiler's maker has it.
set(cxx g++)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    set(cxx clang++)
endif()
add_test(NAME consumer COMMAND sh ${consumer}/run.sh)
set_tests_properties(consumer PROPERTIES ENVIRONMENT
    "RDIM_BUILD=${PROJECT_BINARY_DIR};CMAKE=${CMAKE_COMMAND};GENERATOR=${CMAKE_GENERATOR};CC=${CMAKE_C_COMPILER};CXX=${cxx};CFLAGS=${CMAKE_C_FLAGS};PKG_CONFIG=${PKG_CONFIG_EXECUTABLE};SHARED=${BUILD_SHARED_LIBS};MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}")
list(APPEND rdim_tests consumer)

# Arrays of other libraries for Python.  Without sanitizers, which want to be loaded before the interpreter.
find_program(RDIM_PYTHON3 python3)
if(BUILD_SHARED_LIBS AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
    foreach(peer IN ITEMS numpy torch)
        if(RDIM_PYTHON3)
            add_test(NAME dlpack_${peer} COMMAND ${RDIM_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/python/dlpack.py
                $<TARGET_FILE:rdim> ${peer})
        else()
            add_test(NAME dlpack_${peer} COMMAND sh -c "echo no python3 here; exit 77")
        endif()
        list(APPEND rdim_tests dlpack_${peer})
    endforeach()
    # The same by NumPy and SciPy: random cases of every operation, in script/test all.
    if(RDIM_PYTHON3)
        add_test(NAME peers COMMAND ${RDIM_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/peers/compare.py $<TARGET_FILE:rdim> --test)
        list(APPEND rdim_tests peers)
    endif()
endif()

# Random programs beside NumPy: a module for Python of the library and of tests/graphs/ways.c.  Sanitizers want to be
# loaded before the interpreter; docs/testing.md says how that is done by hand.
add_library(graph_ways MODULE EXCLUDE_FROM_ALL tests/graphs/ways.c tests/graphs/guard.c tests/isa.c tests/dirt.c
    tests/oracle_value.c $<TARGET_OBJECTS:rdim_parts> ${isa_objects})
set_target_properties(graph_ways PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests
    C_STANDARD 11 C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden)
target_include_directories(graph_ways PRIVATE tests)
target_link_libraries(graph_ways PRIVATE rdim_parts rdim_warnings)
if(RDIM_PYTHON3 AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
    set_target_properties(graph_ways PROPERTIES EXCLUDE_FROM_ALL OFF)
    add_test(NAME graphs_numpy COMMAND ${RDIM_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/graphs/graphs.py
        $<TARGET_FILE:graph_ways>)
    list(APPEND rdim_tests graphs_numpy)
endif()

include(cmake/docs.cmake)

# 77: a test that cannot run here says why and counts as skipped.  Check's limit of 4 seconds a test is
# too short for sanitizers on a busy machine.  Kernels that tests compile stay in the build tree, and the presets' trees
# share them: their texts are the same, and gcc takes longer than all else.  Threads that spin while they wait would
# starve the tests running beside them.
cmake_path(GET PROJECT_BINARY_DIR PARENT_PATH trees)
if(trees STREQUAL "${PROJECT_SOURCE_DIR}/build")
    set(kernels ${trees}/kernels)
else()
    set(kernels ${PROJECT_BINARY_DIR}/kernels)
endif()
set_tests_properties(${rdim_tests} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 3600)
set_property(TEST ${rdim_tests} APPEND PROPERTY ENVIRONMENT
    CK_TIMEOUT_MULTIPLIER=60 XDG_CACHE_HOME=${kernels} OMP_WAIT_POLICY=passive)
# What the fake NVRTC compiles is kept, too: Check forks for each test, and many have the same kernels.
set_property(TEST ${rdim_tests} APPEND PROPERTY ENVIRONMENT RDIM_FAKE_DIR=${kernels}/fake)
# What the fake NVRTC makes is for this processor, and not stored as if a GPU's.
if(gpu_suite IN_LIST rdim_tests)
    set_property(TEST gpu_suite ${on_fakes} APPEND PROPERTY ENVIRONMENT XDG_CACHE_HOME=/dev/null)
endif()

# What these are about is the tile machine, which would hand small programs on; its kernels fetch rows, and do not,
# whatever gains here.
foreach(suite IN ITEMS tiles tiles_folds tiles_scans totals)
    if(suite IN_LIST rdim_tests)
        set_property(TEST ${suite} APPEND PROPERTY ENVIRONMENT RDIM_CODEGEN=never)
    endif()
endforeach()
foreach(setting IN ITEMS "tiles_folds;1" "totals;0" "halves;1")
    list(POP_FRONT setting suite fetch)
    if(suite IN_LIST rdim_tests)
        set_property(TEST ${suite} APPEND PROPERTY ENVIRONMENT RDIM_FETCH=${fetch})
    endif()
endforeach()

# The longest begin first, or one processor waits for the other at the end: in this order, in each tree those that it has.
set(longest codegen cuda_kernels differential allocation_faults tiles_folds cuda_schemes strips windows cuda scan
    short_sums sparse_random masks users done gpu_suite points semantics_with_cuda products differential_compiled tier
    exits command_files products_with_cuda strict_pages graphs cuda_tuning watch bounds labels)
list(LENGTH longest cost)
foreach(suite IN LISTS longest)
    if(suite IN_LIST rdim_tests)
        set_tests_properties(${suite} PROPERTIES COST ${cost}00)
    endif()
    math(EXPR cost "${cost} - 1")
endforeach()
