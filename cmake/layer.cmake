# tw_layer(NAME sources...): one folder of src/ as an object library that the shared library is made of.
# tw_test(NAME LABEL label... SOURCES sources...): a GoogleTest program; every test in it is a CTest test with these labels.

add_library(tw_options INTERFACE)
target_compile_features(tw_options INTERFACE cxx_std_20)
target_compile_options(tw_options INTERFACE -Wall -Wextra -Wshadow=local -Wno-missing-field-initializers -Werror=switch ${TW_WERROR})
# Internal errors name files as they stand in the tree, on every machine; and ccache knows a file again in another clone.
target_compile_options(tw_options INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(TW_PRECOMPILE AND CCACHE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(tw_options INTERFACE -fpch-preprocess)   # ccache sees the precompiled header only so
endif()
if(CMAKE_BUILD_TYPE STREQUAL Release AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ 12 at -O3 sees these in every std::function and in sums of strings, where they are not.
  target_compile_options(tw_options INTERFACE -Wno-array-bounds -Wno-maybe-uninitialized -Wno-restrict
                         -Wno-stringop-overflow)
endif()
target_include_directories(tw_options INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tw_options INTERFACE fmt::fmt Threads::Threads)

# Half of a small file's compile time is reading these headers, so they are precompiled, once for the layers and once for the
# tests. A file still includes what it uses: `headers_alone` and builds with TW_PRECOMPILE=OFF see what is missing.
set(TW_PRECOMPILED <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view> <variant> <vector>
  <fmt/format.h>)

# tw_precompile(TARGET FIRST headers...): TARGET uses the precompiled headers of FIRST, which makes them.
function(tw_precompile target first)
  if(NOT TW_PRECOMPILE)
    return()
  elseif(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()

# Several files are compiled as one, which halves the time of a whole build: most of it goes into the same templates again and
# again. So a name that is local to a file must differ from those of its neighbours; TW_UNITY=OFF (preset tsan) compiles each
# file alone and sees what it forgot to include.
function(tw_unite target)
  if(TW_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
endfunction()

# tw_alone(files...): files whose local names are a list's, or which open another namespace, stay by themselves.
function(tw_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(tw_layer name)
  add_library(tw_${name} OBJECT ${ARGN})
  target_link_libraries(tw_${name} PRIVATE tw_options)
  set_target_properties(tw_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  tw_precompile(tw_${name} tw_base ${TW_PRECOMPILED})
  tw_unite(tw_${name})
endfunction()

function(tw_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "LABEL;SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_compile_options(${name} PRIVATE -O0)   # the library is optimised; the checks around it need not be
  target_link_libraries(${name} PRIVATE tilewright tw_options GTest::gtest_main GTest::gmock ${arg_LIBRARIES})
  tw_precompile(${name} tw_test_headers)
  tw_unite(${name})
  # Discovery cannot hand on a list, so several labels are joined into one, which ctest -L still finds by each part. Kernels
  # are cached in the build folder, never in the user's own cache.
  string(REPLACE ";" "." labels "${arg_LABEL}")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}." PROPERTIES
    LABELS ${labels} TIMEOUT ${arg_TIMEOUT} ENVIRONMENT TILEWRIGHT_CACHE_DIR=${CMAKE_BINARY_DIR}/kernel_cache
    ENVIRONMENT_MODIFICATION TILEWRIGHT_EMULATE_CHECK=set:1)
  if(NOT labels MATCHES "golden|hygiene")   # those read the source tree, which a bundle does not have
    set_property(GLOBAL APPEND PROPERTY TW_TEST_PROGRAMS ${name})
  endif()
  # `tests_unit` builds the unit tests, and so on: a run of some labels waits for nothing else.
  foreach(label IN LISTS arg_LABEL)
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
    endif()
    add_dependencies(tests_${label} ${name})
  endforeach()
endfunction()
