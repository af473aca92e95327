# Each examples/*.c is a program and a test: it runs in the repository's root, and what it prints must
# be examples/expected/<name>.txt, byte for byte.
file(GLOB example_sources CONFIGURE_DEPENDS examples/*.c)

foreach(source IN LISTS example_sources)
    cmake_path(GET source STEM name)
    add_executable(example_${name} ${source})
    set_target_properties(example_${name} PROPERTIES
        OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples
        C_STANDARD 11 C_EXTENSIONS OFF)
    target_link_libraries(example_${name} PRIVATE rdim::rdim rdim_warnings)
    if(RDIM_TESTS AND name STREQUAL "digits_knn" AND NOT RDIM_OPENMP AND CMAKE_C_FLAGS MATCHES "fsanitize=thread")
        # It would watch a single thread for minutes.
        set(reason "example_${name} is skipped: one thread gives the thread sanitizer nothing to find")
        message(STATUS "${reason}")
        add_test(NAME example_${name} COMMAND sh -c "echo ${reason}; exit 77")
        list(APPEND rdim_tests example_${name})
    elseif(RDIM_TESTS)
        add_test(NAME example_${name}
            COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/run-example.sh
                    $<TARGET_FILE:example_${name}> examples/expected/${name}.txt
            WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        list(APPEND rdim_tests example_${name})
    endif()
endforeach()
