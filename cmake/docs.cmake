# The pages as tests: blocks of C run, and each rule of the semantics page has its test.
function(rdim_page name page)
    set(source ${PROJECT_BINARY_DIR}/tests/${name}.c)
    add_custom_command(OUTPUT ${source}
        COMMAND ${PROJECT_SOURCE_DIR}/script/tutorial-tests ${page} > ${source}
        DEPENDS ${page} script/tutorial-tests
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
    add_executable(${name} ${source})
    set_target_properties(${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests C_STANDARD 11 C_EXTENSIONS OFF)
    # Not every block uses all that the page's beginning declares, and functions of tables are called by their own test.  An option of the source stands after the target's,
    # where clang too takes it for the last word.
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-Wno-unused-variable;-Wno-unused-function")
    target_link_libraries(${name} PRIVATE rdim::rdim rdim_warnings m)
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endfunction()

rdim_page(tutorial docs/tutorial.md)
rdim_page(python_from docs/python-from.md)
rdim_page(keops docs/keops.md)
rdim_page(solves_page docs/solves.md)
list(APPEND rdim_tests tutorial python_from keops solves_page)

# What follows looks at texts, and at which loops are compiled: the same with sanitizers.
if(CMAKE_C_FLAGS MATCHES "-fsanitize")
    return()
endif()

# The program of the README.
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/tests/readme.c
    COMMAND awk "/^```c$/ && !done { inside = 1; next } /^```$/ { done = done || inside; inside = 0 } inside"
            README.md > ${PROJECT_BINARY_DIR}/tests/readme.c
    DEPENDS README.md
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
add_executable(readme ${PROJECT_BINARY_DIR}/tests/readme.c)
set_target_properties(readme PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests C_STANDARD 11 C_EXTENSIONS OFF)
target_link_libraries(readme PRIVATE rdim::rdim rdim_warnings m)

# What users read runs without a slow form: compiled loops are there, or nothing needs them.
set(strict_programs $<TARGET_FILE:readme> $<TARGET_FILE:tutorial> $<TARGET_FILE:python_from>)
foreach(source IN LISTS example_sources)
    cmake_path(GET source STEM name)
    list(APPEND strict_programs $<TARGET_FILE:example_${name}>)
endforeach()
add_test(NAME strict_pages COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/run-strict.sh ${strict_programs}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(strict_pages PROPERTIES ENVIRONMENT "RDIM_STRICT=1;RDIM_TIER1=sync")
list(APPEND rdim_tests strict_pages)

add_test(NAME constructors COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/check-constructors.sh
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
add_test(NAME list_rows COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/check-lists.sh
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
list(APPEND rdim_tests constructors list_rows)
add_test(NAME semantics_page COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/check-semantics.sh
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
add_test(NAME links COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/check-links.sh WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
list(APPEND rdim_tests semantics_page links)
