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
