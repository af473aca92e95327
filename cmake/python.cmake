# The extension of the Python package, with the library inside: python/.  Its interface is Python's stable one as of 3.10,
# so one file serves all versions since.  A free-threaded Python has no stable interface yet: its extension is for its
# version alone.
set(RDIM_PYTHON_HEADERS "" CACHE STRING "Folders of Python.h and pyconfig.h; empty: those of python3")
set(RDIM_PYTHON_PREBUILT "" CACHE FILEPATH "An extension that is built already, for a wheel (script/wheel)")
if(RDIM_PYTHON_PREBUILT)
    add_custom_target(rdim_python)
    install(PROGRAMS ${RDIM_PYTHON_PREBUILT} DESTINATION rdim COMPONENT python)
    return()
endif()
set(python_suffix .abi3.so)
if(RDIM_PYTHON_HEADERS)
    set(Python_INCLUDE_DIRS ${RDIM_PYTHON_HEADERS})
else()
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
    execute_process(COMMAND ${Python_EXECUTABLE} -c
        "import sysconfig; v = sysconfig.get_config_var; print(v('EXT_SUFFIX') if v('Py_GIL_DISABLED') else '.abi3.so')"
        OUTPUT_VARIABLE python_suffix OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
file(GLOB python_sources CONFIGURE_DEPENDS python/src/*.c)
add_library(rdim_python MODULE ${python_sources})
set_target_properties(rdim_python PROPERTIES
    OUTPUT_NAME _core PREFIX "" SUFFIX ${python_suffix}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/rdim
    C_STANDARD 11 C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden)
target_include_directories(rdim_python PRIVATE include ${PROJECT_BINARY_DIR}/include)
target_include_directories(rdim_python SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
# Another rdim in the process keeps its own symbols.
target_link_options(rdim_python PRIVATE -Wl,--exclude-libs,ALL)
target_link_libraries(rdim_python PRIVATE rdim_parts rdim_warnings)
install(TARGETS rdim_python LIBRARY DESTINATION rdim COMPONENT python)

# In the build folder the package is a link to the sources beside the extension.
file(GLOB python_package CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/rdim python/rdim/*)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/python/rdim)
foreach(file IN LISTS python_package)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/rdim/${file} ${PROJECT_BINARY_DIR}/python/rdim/${file} SYMBOLIC)
endforeach()

# Programs that python/tests/test_bits.py builds in Python, and this one in C.  Tests build it by name; a source archive
# of the package has no tests.
if(EXISTS ${PROJECT_SOURCE_DIR}/python/tests/programs.c)
    add_executable(rdim_programs EXCLUDE_FROM_ALL python/tests/programs.c)
    set_target_properties(rdim_programs PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python)
    target_include_directories(rdim_programs PRIVATE include ${PROJECT_BINARY_DIR}/include)
    target_link_libraries(rdim_programs PRIVATE rdim_parts rdim_warnings)
endif()
