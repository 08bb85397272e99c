# What `cmake --install` puts where, and the CMake package that find_package(tilewright) finds.
include(CMakePackageConfigHelpers)
install(TARGETS tilewright EXPORT tilewright-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/tilewright DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tilewright-targets NAMESPACE tilewright:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)
file(WRITE ${CMAKE_BINARY_DIR}/tilewright-config.cmake
  "include(\"\${CMAKE_CURRENT_LIST_DIR}/tilewright-targets.cmake\")\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tilewright-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tilewright-config.cmake ${CMAKE_BINARY_DIR}/tilewright-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET tilewright_cli)
  install(TARGETS tilewright_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# Tests, examples and benchmarks, for machines that have a GPU and none of our packages (scripts/bundle).
get_property(programs GLOBAL PROPERTY TW_TEST_PROGRAMS)
if(programs)
  install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tests EXCLUDE_FROM_ALL)
  get_property(files GLOBAL PROPERTY TW_TEST_FILES)
  install(FILES ${files} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tests EXCLUDE_FROM_ALL)
endif()
