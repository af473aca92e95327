# Matrix products run by OpenBLAS or BLIS where one of them is found.  One file includes what they declare, and loads the
# library when it is wanted; nothing is linked.
set(blas_definitions RD_OPENBLAS=0 RD_BLIS=0)
set(blas_library "")

if(RDIM_BLAS AND CMAKE_C_FLAGS MATCHES "fsanitize=thread")
    message(STATUS "no BLAS: the thread sanitizer does not know how its threads wait for each other")
elseif(RDIM_BLAS)
    find_package(PkgConfig)
    if(PKG_CONFIG_FOUND)
        pkg_check_modules(RDIM_OPENBLAS openblas)
    endif()
    find_library(RDIM_BLIS_LIBRARY blis PATH_SUFFIXES blis-openmp blis-pthread blis-serial)
    find_path(RDIM_BLIS_INCLUDE NAMES blis/cblas.h blis-openmp/cblas.h blis-pthread/cblas.h blis-serial/cblas.h)
    if(RDIM_OPENBLAS_FOUND)
        list(GET RDIM_OPENBLAS_LINK_LIBRARIES 0 blas_library)
        set(blas_include ${RDIM_OPENBLAS_INCLUDE_DIRS})
        set(blas_definitions RD_OPENBLAS=1 RD_BLIS=0)
    elseif(RDIM_BLIS_LIBRARY AND RDIM_BLIS_INCLUDE)
        set(blas_library ${RDIM_BLIS_LIBRARY})
        file(GLOB blas_include LIST_DIRECTORIES true ${RDIM_BLIS_INCLUDE}/blis*)
        set(blas_definitions RD_OPENBLAS=0 RD_BLIS=1 _GNU_SOURCE)   # its header names POSIX types
    endif()
endif()

if(blas_library)
    # The name that programs linked with it would ask the system for.
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${blas_library} OUTPUT_VARIABLE blas_elf ERROR_QUIET)
    set(blas_name ${blas_library})
    if(blas_elf MATCHES "SONAME +([^ \n]+)")
        set(blas_name ${CMAKE_MATCH_1})
    endif()
    message(STATUS "BLAS for matrix products: ${blas_name}, ${blas_library}")
    list(APPEND blas_definitions "RD_BLAS_NAME=\"${blas_name}\"" "RD_BLAS_FILE=\"${blas_library}\"")
    list(TRANSFORM blas_include PREPEND -isystem)   # their headers have warnings
    set_property(SOURCE src/kernels/cpu/product/blas.c PROPERTY COMPILE_OPTIONS ${blas_include})
endif()
set_property(SOURCE src/kernels/cpu/product/blas.c PROPERTY COMPILE_DEFINITIONS ${blas_definitions})
