# tw_embed(TARGET files...): makes files part of the library. `embedded_file("emulate/cuda.h")` (base/embedded.h) gives their
# text; names are relative to the folder that calls this. A changed file is embedded again by the next build.
function(tw_embed target)
  set(outputs)
  foreach(file IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "${file}" id)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/embed_${id}.cpp)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DINPUT=${CMAKE_CURRENT_SOURCE_DIR}/${file} -DNAME=${file} -DOUTPUT=${output}
              -P ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake
      DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake VERBATIM)
    list(APPEND outputs ${output})
  endforeach()
  target_sources(${target} PRIVATE ${outputs})
endfunction()

# tw_embed_as(TARGET NAME FILE): the same for a file of another place, under a name of its own.
function(tw_embed_as target name file)
  string(MAKE_C_IDENTIFIER "${name}" id)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embed_${id}.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DNAME=${name} -DOUTPUT=${output} -P ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake
    DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
