# The header as compilers of C and C++ read it.  It is the same with sanitizers.
if(CMAKE_C_FLAGS MATCHES "-fsanitize")
    return()
endif()

set(header_flags -fsyntax-only -Wall -Wextra -Wpedantic -Werror
    -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_BINARY_DIR}/include)

add_test(NAME header_c COMMAND ${CMAKE_C_COMPILER} -std=c11 ${header_flags} ${consumer}/main.c)
list(APPEND rdim_tests header_c)
# Another compiler reads it too, where there is one; a missing one is reported as a skipped test.
foreach(row IN ITEMS "header_clang;clang;-std=c11;main.c" "header_cxx;g++;-std=c++17;header.cpp"
        "header_hpp;g++;-std=c++17;main.cpp" "header_hpp_clang;clang++;-std=c++17;main.cpp")
    list(POP_FRONT row name compiler standard file)
    find_program(RDIM_${name} ${compiler})
    if(RDIM_${name})
        add_test(NAME ${name} COMMAND ${RDIM_${name}} ${standard} ${header_flags} ${consumer}/${file})
    else()
        add_test(NAME ${name} COMMAND sh -c "echo no ${compiler} here; exit 77")
    endif()
    list(APPEND rdim_tests ${name})
endforeach()

# Each part can be included alone, in every language.
add_test(NAME header_parts COMMAND sh ${consumer}/parts.sh ${PROJECT_SOURCE_DIR}/include ${header_flags})
list(APPEND rdim_tests header_parts)

# One comment and one declaration a function, and a declaration for each row of the tables.
add_test(NAME header_rules COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/check-header.sh WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
list(APPEND rdim_tests header_rules)

# What reads well and means something else does not compile, and the error names what to write.
foreach(row IN ITEMS "gcc;c;11" "clang;c;11" "g++;c++;17" "clang++;c++;17")
    list(POP_FRONT row compiler language year)
    string(REPLACE "c++" "cpp" ending ${language})
    add_test(NAME refused_${compiler} COMMAND sh ${consumer}/refused.sh ${consumer}/refused.${ending} ${language}
        ${compiler} -std=${language}${year} ${header_flags})
    list(APPEND rdim_tests refused_${compiler})
endforeach()
