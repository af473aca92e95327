# What a user needs: the headers, the library, and how to find both with CMake or pkg-config.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rdim)

install(TARGETS rdim EXPORT rdimTargets)
install(FILES include/rdim.h include/rdim.hpp ${PROJECT_BINARY_DIR}/include/rdim_export.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${rdim_header_parts} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rdim)
install(EXPORT rdimTargets NAMESPACE rdim:: DESTINATION ${package_dir})

configure_package_config_file(cmake/rdimConfig.cmake.in cmake/rdimConfig.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# 0.x: a minor release may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/rdimConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/rdimConfig.cmake
              ${PROJECT_BINARY_DIR}/cmake/rdimConfigVersion.cmake DESTINATION ${package_dir})

# Relative to the .pc file, so that `cmake --install --prefix` and moved trees keep working.
file(RELATIVE_PATH rdim_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
# A distribution may give these as absolute paths.
file(RELATIVE_PATH rdim_pc_libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH rdim_pc_includedir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(rdim_pc_private "")
if(CMAKE_DL_LIBS)
    string(APPEND rdim_pc_private "-l${CMAKE_DL_LIBS}")
endif()
string(APPEND rdim_pc_private " ${CMAKE_THREAD_LIBS_INIT}")
if(RDIM_OPENMP)
    string(APPEND rdim_pc_private " ${OpenMP_C_FLAGS}")
endif()
configure_file(cmake/rdim.pc.in cmake/rdim.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/rdim.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
