# rdim-sweep and rdim-nests: random programs, timed and as text.  Sanitizers look at the library, which other suites ask for
# the same.
if(RDIM_TESTS AND CMAKE_C_FLAGS MATCHES "-fsanitize")
    return()
endif()

# bench/rdim-sweep: random expressions beside loops that it writes and has compiled, and beside NumPy in a worker of its own.
file(GLOB sweep_sources CONFIGURE_DEPENDS bench/sweep/*.c)
list(APPEND sweep_sources ${PROJECT_SOURCE_DIR}/bench/turns.c)
add_executable(rdim-sweep ${sweep_sources})
set_target_properties(rdim-sweep PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench C_STANDARD 11 C_EXTENSIONS OFF)
target_compile_definitions(rdim-sweep PRIVATE _GNU_SOURCE
    SWEEP_WORKER="${PROJECT_SOURCE_DIR}/bench/sweep/worker.py")
target_link_libraries(rdim-sweep PRIVATE
    rdim::rdim rdim_warnings m ${CMAKE_DL_LIBS} $<$<BOOL:${RDIM_OPENMP}>:OpenMP::OpenMP_C>)

# bench/rdim-nests: the text of nests of the sweep's expressions; it looks into the library.
file(GLOB nests_sources CONFIGURE_DEPENDS bench/nests/*.c)
list(REMOVE_ITEM sweep_sources ${PROJECT_SOURCE_DIR}/bench/sweep/main.c)
add_executable(rdim-nests ${nests_sources} ${sweep_sources})
set_target_properties(rdim-nests PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench C_STANDARD 11 C_EXTENSIONS OFF)
target_compile_definitions(rdim-nests PRIVATE _GNU_SOURCE
    SWEEP_WORKER="${PROJECT_SOURCE_DIR}/bench/sweep/worker.py")
target_link_libraries(rdim-nests PRIVATE
    rdim_parts rdim_warnings m ${CMAKE_DL_LIBS} $<$<BOOL:${RDIM_OPENMP}>:OpenMP::OpenMP_C>)

if(RDIM_TESTS)
    add_test(NAME sweep_smoke COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/smoke-sweep.sh $<TARGET_FILE:rdim-sweep>)
    list(APPEND rdim_tests sweep_smoke)
    # Kernels of AVX2 make the plans.
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        add_test(NAME scalar_residue COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/scalar-residue.sh $<TARGET_FILE:rdim-nests>
            ${PROJECT_SOURCE_DIR}/tests/data/scalar_residue.txt)
        list(APPEND rdim_tests scalar_residue)
    endif()
endif()
