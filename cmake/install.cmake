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
  # Written by the command itself, from what its --help says.
  set(pages ${CMAKE_BINARY_DIR}/pages)
  set(written "")
  foreach(form bash zsh fish man)
    add_custom_command(OUTPUT ${pages}/${form}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}
      COMMAND tilewright_cli completion ${form} > ${pages}/${form}
      DEPENDS tilewright_cli VERBATIM)
    list(APPEND written ${pages}/${form})
  endforeach()
  add_custom_target(pages ALL DEPENDS ${written})
  install(FILES ${pages}/man DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 RENAME tilewright.1)
  install(FILES ${pages}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tilewright)
  install(FILES ${pages}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _tilewright)
  install(FILES ${pages}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME tilewright.fish)
endif()
# What emitted CUDA text includes, by the names that it has there; and what there is to read.
install(DIRECTORY src/codegen/device_lib/cuda/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tilewright FILES_MATCHING PATTERN "*.cuh")
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN CMakeLists.txt EXCLUDE)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Tests, examples and benchmarks, for machines that have a GPU and none of our packages (scripts/bundle).
get_property(programs GLOBAL PROPERTY TW_TEST_PROGRAMS)
if(programs)
  install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tests EXCLUDE_FROM_ALL)
  get_property(files GLOBAL PROPERTY TW_TEST_FILES)
  install(FILES ${files} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tests EXCLUDE_FROM_ALL)
endif()
