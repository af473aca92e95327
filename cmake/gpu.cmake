# gpu_suite: what the tests ask of the fake GPU, for a real one.  It needs no Check, as such a machine may have none.
file(GLOB gpu_helpers CONFIGURE_DEPENDS tests/differential*.c tests/oracle*.c tests/random_*.c)
# Sparse programs are compared by a suite of their own, with Check.
list(FILTER gpu_helpers EXCLUDE REGEX "random_sparse")
file(GLOB gpu_parts CONFIGURE_DEPENDS tests/gpu/*.c)
set(gpu_programs tests/gpu_programs.c tests/gpu_pairs.c tests/gpu_rows.c tests/gpu_cross.c)
add_executable(gpu_suite ${gpu_parts} ${gpu_helpers} ${gpu_programs} tests/gpu_fast.c tests/isa.c tests/dirt.c)
set_target_properties(gpu_suite PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests C_STANDARD 11 C_EXTENSIONS OFF)
target_link_libraries(gpu_suite PRIVATE rdim_parts rdim_warnings)

# rdim-bench-gpu: programs over matrices on a GPU, beside its limits.
add_executable(rdim-bench-gpu bench/gpu/main.c bench/gpu/limits.c ${gpu_programs})
set_target_properties(rdim-bench-gpu PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench C_STANDARD 11 C_EXTENSIONS OFF)
target_link_libraries(rdim-bench-gpu PRIVATE rdim_parts rdim_warnings)
