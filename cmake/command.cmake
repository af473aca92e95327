# bin/rdim: formulas of arrays in files, on the public header alone, but for a copy of what knows how much memory a
# process may have.  libnetcdf and libhdf5 are loaded when a file of theirs is met, not linked: starting with them takes
# 8 ms, and without 1.
find_package(PkgConfig)
find_package(ZLIB)

file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS src/command/*.c)
list(FILTER command_sources EXCLUDE REGEX src/command/main.c)
add_library(rdim_command_parts OBJECT ${command_sources} src/core/machine_memory.c
    src/core/replaced.c)
set_target_properties(rdim_command_parts PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF)
target_include_directories(rdim_command_parts PUBLIC src/command PRIVATE src)
target_compile_definitions(rdim_command_parts PRIVATE _GNU_SOURCE)   # O_TMPFILE, memfd_create, getopt_long
target_link_libraries(rdim_command_parts PUBLIC rdim::rdim m Threads::Threads ${CMAKE_DL_LIBS}
    PRIVATE rdim_warnings)
rdim_count(rdim_command_parts)

# The name that programs linked with a library would ask the system for.
function(soname_of file out)
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${file} OUTPUT_VARIABLE elf ERROR_QUIET)
    set(${out} ${file} PARENT_SCOPE)
    if(elf MATCHES "SONAME +([^ \n]+)")
        set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
    endif()
endfunction()

foreach(row IN ITEMS "NETCDF;netcdf;netcdf" "HDF5;hdf5;hdf5" "CAIRO;cairo;cairo" "DEFLATE;libdeflate;deflate"
        "JSON;json-c;json-c" "BLOSC;blosc;blosc" "ZSTD;libzstd;zstd" "ECCODES;eccodes;eccodes"
        "UDUNITS;udunits;udunits2")
    list(POP_FRONT row what package library)
    set(there 0)
    if(PKG_CONFIG_FOUND AND RDIM_${what})
        pkg_check_modules(RDIM_${what}_PC ${package})
    endif()
    if(RDIM_${what}_PC_FOUND)
        # Not pkg-config's list: a package names what it is linked with before itself, or after.
        find_library(RDIM_${what}_LIBRARY NAMES ${library} ${library}_serial
                     HINTS ${RDIM_${what}_PC_LIBRARY_DIRS} ${RDIM_${what}_PC_LIBDIR})
    endif()
    if(RDIM_${what}_LIBRARY)
        set(there 1)
        soname_of(${RDIM_${what}_LIBRARY} name)
        message(STATUS "${what} for the command: ${name}, ${RDIM_${what}_LIBRARY}")
        target_compile_definitions(rdim_command_parts PRIVATE
            RDIM_${what}_NAME="${name}" RDIM_${what}_FILE="${RDIM_${what}_LIBRARY}")
        target_include_directories(rdim_command_parts SYSTEM PUBLIC ${RDIM_${what}_PC_INCLUDE_DIRS})
    else()
        message(STATUS "no ${what} for the command")
    endif()
    target_compile_definitions(rdim_command_parts PUBLIC RDIM_${what}=${there})
endforeach()

if(ZLIB_FOUND)
    target_link_libraries(rdim_command_parts PUBLIC ZLIB::ZLIB)
    target_compile_definitions(rdim_command_parts PUBLIC RDIM_ZLIB=1)
else()
    message(STATUS "no zlib, and so no .npz for the command")
    target_compile_definitions(rdim_command_parts PUBLIC RDIM_ZLIB=0)
endif()

add_executable(rdim_command src/command/main.c)
set_target_properties(rdim_command PROPERTIES OUTPUT_NAME rdim
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin C_STANDARD 11 C_EXTENSIONS OFF)
file(RELATIVE_PATH to_library ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(rdim_command PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
target_link_libraries(rdim_command PRIVATE rdim_command_parts rdim_warnings)
install(TARGETS rdim_command)

# The manual page and the shell's completion.
install(FILES docs/rdim.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES cmake/rdim-completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME rdim)
