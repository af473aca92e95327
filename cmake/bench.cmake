# bench/rdim-bench: the library beside loops written by hand.  The loops are one source, compiled for each instruction
# set that the compiler knows; the program picks at run time.
if(RDIM_TESTS AND CMAKE_C_FLAGS MATCHES "-fsanitize")
    # Sanitizers look at the library, which other suites ask for the same; these programs take minutes to build.
    set(reason "bench_smoke is skipped: benchmarks are built without sanitizers only")
    message(STATUS "${reason}")
    add_test(NAME bench_smoke COMMAND sh -c "echo ${reason}; exit 77")
    list(APPEND rdim_tests bench_smoke)
    return() # and so is its building
endif()

include(CheckCCompilerFlag)

file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.c)
list(REMOVE_ITEM bench_sources ${PROJECT_SOURCE_DIR}/bench/hand_isa.c)
add_executable(rdim-bench ${bench_sources})
set_target_properties(rdim-bench PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench C_STANDARD 11 C_EXTENSIONS OFF)
target_compile_definitions(rdim-bench PRIVATE _GNU_SOURCE BENCH_DATA="${PROJECT_SOURCE_DIR}/examples/data")
target_link_libraries(rdim-bench PRIVATE
    rdim::rdim rdim_warnings m $<$<BOOL:${RDIM_OPENMP}>:OpenMP::OpenMP_C>)

# --calibrate measures by parts of the library that it does not show, which come from the static one.
set_source_files_properties(bench/calibrate.c PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(rdim-bench PRIVATE $<TARGET_FILE:rdim_parts> ${CMAKE_DL_LIBS} Threads::Threads)
add_dependencies(rdim-bench rdim_parts)

set(hand_flags -O3 -ffp-contract=fast -fno-math-errno)
# gcc jams rows of a column sum together: several streams where one is fastest, 2.6 times as long on Zen 4.
foreach(flag IN ITEMS -fno-loop-unroll-and-jam -fno-loop-interchange)
    string(MAKE_C_IDENTIFIER "has${flag}" has)
    check_c_compiler_flag(-Werror\ ${flag} ${has})
    if(${has})
        list(APPEND hand_flags ${flag})
    endif()
endforeach()

function(add_hand isa)
    add_library(hand_${isa} OBJECT bench/hand_isa.c)
    set_target_properties(hand_${isa} PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF)
    target_compile_definitions(hand_${isa} PRIVATE HAND_ISA=hand_${isa} _GNU_SOURCE)
    target_compile_options(hand_${isa} PRIVATE ${hand_flags} ${ARGN}
        $<$<NOT:$<BOOL:${RDIM_OPENMP}>>:-Wno-unused-parameter>)   # those that only a pragma names
    target_link_libraries(hand_${isa} PRIVATE rdim_warnings $<$<BOOL:${RDIM_OPENMP}>:OpenMP::OpenMP_C>)
    target_link_libraries(rdim-bench PRIVATE hand_${isa})
endfunction()

add_hand(plain)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    add_hand(avx2 -mavx2 -mfma -mf16c)
    add_hand(avx512 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx512vnni -mfma -mprefer-vector-width=512)
    target_compile_definitions(rdim-bench PRIVATE HAND_X86)
endif()

# The matrix product of W9 is compared with OpenBLAS; without it there is no figure to compare with.
find_package(PkgConfig)
if(PKG_CONFIG_FOUND)
    pkg_check_modules(OPENBLAS IMPORTED_TARGET openblas)
endif()
if(OPENBLAS_FOUND)
    target_link_libraries(rdim-bench PRIVATE PkgConfig::OPENBLAS)
    target_compile_definitions(rdim-bench PRIVATE HAND_BLAS)
endif()

if(RDIM_TESTS)
    add_test(NAME bench_smoke COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/smoke-bench.sh $<TARGET_FILE:rdim-bench>)
    list(APPEND rdim_tests bench_smoke)
endif()
