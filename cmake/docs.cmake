# The pages as tests: the tutorial's blocks run, and each rule of the semantics page has its test.
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/tests/tutorial.c
    COMMAND ${PROJECT_SOURCE_DIR}/script/tutorial-tests > ${PROJECT_BINARY_DIR}/tests/tutorial.c
    DEPENDS docs/tutorial.md script/tutorial-tests
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)

add_executable(tutorial ${PROJECT_BINARY_DIR}/tests/tutorial.c)
set_target_properties(tutorial PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests C_STANDARD 11 C_EXTENSIONS OFF)
# Not every block uses all that the page's beginning declares.  An option of the source stands after the target's, where
# clang too takes it for the last word.
set_source_files_properties(${PROJECT_BINARY_DIR}/tests/tutorial.c PROPERTIES COMPILE_OPTIONS -Wno-unused-variable)
target_link_libraries(tutorial PRIVATE rdim::rdim rdim_warnings m)
add_test(NAME tutorial COMMAND tutorial WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
list(APPEND rdim_tests tutorial)

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
set(strict_programs $<TARGET_FILE:readme> $<TARGET_FILE:tutorial>)
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
