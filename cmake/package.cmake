# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, library, command, and the files that find_package(tightloop) reads.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tightloop)

install(TARGETS tightloop EXPORT tightloopTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT tightloopTargets NAMESPACE tightloop:: DESTINATION ${package_dir})
install(DIRECTORY tightloop DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.def"
        PATTERN "backends/cpu" EXCLUDE)
configure_package_config_file(cmake/tightloopConfig.cmake.in ${PROJECT_BINARY_DIR}/tightloopConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tightloopConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tightloopConfig.cmake ${PROJECT_BINARY_DIR}/tightloopConfigVersion.cmake
        DESTINATION ${package_dir})
