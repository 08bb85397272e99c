# tw_embed(TARGET files...): makes files part of the library. `embedded_file("emulate/cuda.h")` (base/embedded.h) gives their
# text; names are relative to the folder that calls this. A file of another place is given as NAME=FILE. A changed file is
# embedded again by the next build.
function(tw_embed target)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_files.cpp)
  set(pairs)
  set(files)
  foreach(entry IN LISTS ARGN)
    if(entry MATCHES "^([^=]+)=(.+)$")
      set(name ${CMAKE_MATCH_1})
      set(file ${CMAKE_MATCH_2})
    else()
      set(name ${entry})
      set(file ${CMAKE_CURRENT_SOURCE_DIR}/${entry})
    endif()
    list(APPEND pairs ${name}=${file})
    list(APPEND files ${file})
  endforeach()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${pairs}" -DOUTPUT=${output} -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
