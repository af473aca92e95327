# cmake -D ROOT=src -D FILE=kernels/x.h -D NAME=symbol -D OUT=x.c -P embed.cmake
# Writes C in which `NAME` is the text of a header, with our own headers that it includes in their places and the system's
# left out.

# The next include of the text after its first `at` bytes; -1: none.
function(find_include text at out)
    string(SUBSTRING "${text}" ${at} -1 rest)
    string(FIND "${rest}" "\n#include " found)
    if(NOT found EQUAL -1)
        math(EXPR found "${at} + ${found} + 1")
    endif()
    set(${out} ${found} PARENT_SCOPE)
endfunction()

function(expand file out)
    file(READ ${ROOT}/${file} text)
    set(text "\n${text}")
    set(result "")
    find_include("${text}" 0 at)
    while(NOT at EQUAL -1)
        string(SUBSTRING "${text}" 0 ${at} before)
        string(SUBSTRING "${text}" ${at} -1 text)
        string(FIND "${text}" "\n" end)
        string(SUBSTRING "${text}" 0 ${end} line)
        string(SUBSTRING "${text}" ${end} -1 text)
        string(APPEND result "${before}")
        # The public header stands beside src: its types are the text's own.
        if(line MATCHES "^#include \"([^\"]*)\"" AND NOT line MATCHES "\"rdim.h\"")
            string(REGEX MATCH "\"([^\"]*)\"" quoted "${line}")
            expand(${CMAKE_MATCH_1} inner)
            string(APPEND result "${inner}")
        endif()
        find_include("${text}" 0 at)
    endwhile()
    set(${out} "${result}${text}" PARENT_SCOPE)
endfunction()

expand(${FILE} text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n\"" text "${text}")
file(WRITE ${OUT} "/* ${FILE} and what it includes, made by cmake/embed.cmake */\nextern const char ${NAME}[];\nconst char ${NAME}[] = \"${text}\";\n")
