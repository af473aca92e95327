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

add_test(NAME semantics_page COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/check-semantics.sh
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
list(APPEND rdim_tests tutorial semantics_page)
