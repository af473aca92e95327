# Fuzz targets: tests/fuzz/driver.h says how to add one.
#
# Each is one LLVMFuzzerTestOneInput().  Our own driver runs it, with the tests for a moment.  With clang and
# -DRDIM_LIBFUZZER=ON libFuzzer does, which follows coverage.
option(RDIM_LIBFUZZER "Fuzz targets are run by libFuzzer (clang)" OFF)

# rdim_fuzz(NAME SOURCE CORPUS DEFINITIONS LIBRARIES...): CORPUS is a folder of inputs.
function(rdim_fuzz name source corpus definitions)
    add_executable(fuzz_${name} ${source})
    set_target_properties(fuzz_${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests C_STANDARD 11 C_EXTENSIONS OFF)
    target_include_directories(fuzz_${name} PRIVATE tests)
    target_compile_definitions(fuzz_${name} PRIVATE _GNU_SOURCE ${definitions})
    target_link_libraries(fuzz_${name} PRIVATE ${ARGN} rdim_warnings)
    if(RDIM_LIBFUZZER)
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
        # libFuzzer writes inputs that reach new code into the first folder.
        file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/corpus/${name})
        add_test(NAME fuzz_${name} COMMAND fuzz_${name} -runs=500 -detect_leaks=0 ${PROJECT_BINARY_DIR}/corpus/${name}
            ${corpus})
    else()
        target_sources(fuzz_${name} PRIVATE tests/fuzz/driver.c)
        add_test(NAME fuzz_${name} COMMAND fuzz_${name} ${corpus})
    endif()
    set(rdim_tests ${rdim_tests} fuzz_${name} PARENT_SCOPE)
endfunction()

# The library's calls, beside models of them.  The targets of suites' helpers would bring the fake GPU, which clang's
# sanitizers do not link.
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
    add_library(rdim_fuzz_parts STATIC tests/fuzz/bytes.c tests/isa.c tests/oracle.c tests/oracle_fold.c
        tests/oracle_map.c tests/oracle_sort.c tests/oracle_value.c)
    set_target_properties(rdim_fuzz_parts PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF)
    target_include_directories(rdim_fuzz_parts PRIVATE tests)
    target_compile_definitions(rdim_fuzz_parts PRIVATE _GNU_SOURCE)
    target_link_libraries(rdim_fuzz_parts PUBLIC rdim_parts PRIVATE rdim_warnings)
    set(slice_sources tests/fuzz/slice_model.c)
    set(sparse_sources tests/fuzz/sparse_model.c)
    foreach(target IN ITEMS function einsum slice dlpack sparse)
        rdim_fuzz(${target} "tests/fuzz/${target}.c;${${target}_sources}"
            ${PROJECT_SOURCE_DIR}/tests/data/fuzz/${target} "" rdim_fuzz_parts)
    endforeach()
endif()
if(TARGET rdim_command_parts AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
    set(data ${PROJECT_SOURCE_DIR}/tests/data/fuzz)
    foreach(suffix IN ITEMS npy npz csv)
        rdim_fuzz(${suffix} tests/fuzz/file.c ${data}/${suffix} FUZZ_SUFFIX=".${suffix}" rdim_command_parts)
    endforeach()
    rdim_fuzz(zarr tests/fuzz/file.c ${data}/zarr "FUZZ_SUFFIX=\".zarr\";FUZZ_ZARR=1" rdim_command_parts)
    # Where the library is found; its crashes are counted, and are no findings.
    if(RDIM_ECCODES_LIBRARY AND NOT RDIM_LIBFUZZER)
        rdim_fuzz(grib "tests/fuzz/file.c;tests/fuzz/library.c" ${data}/grib "FUZZ_SUFFIX=\".grib\";FUZZ_GRIB=1" rdim_command_parts)
        # What the sanitizer finds in ecCodes is for the target's own handler: presets let it exit instead.
        set_property(TEST fuzz_grib APPEND PROPERTY ENVIRONMENT
            "ASAN_OPTIONS=abort_on_error=1:detect_leaks=0:allocator_may_return_null=1")
    endif()
    rdim_fuzz(classic tests/fuzz/file.c ${data}/classic "FUZZ_SUFFIX=\".nc\";FUZZ_CLASSIC=1" rdim_command_parts)
endif()
