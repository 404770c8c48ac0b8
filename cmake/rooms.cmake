# SPDX-License-Identifier: Apache-2.0
# The table of rooms: one static library each, linked together into libtightloop.so. A room sees only the rooms
# named in its line (and what those see); tests/house/include_edges_test.py holds the sources against the same table.
set(TIGHTLOOP_ROOMS "" CACHE INTERNAL "")

# tightloop_room(<name> SEES <rooms>... USES <outside libraries>...)
# A room without sources yet is an interface library, so that the rest builds.
function(tightloop_room name)
  cmake_parse_arguments(ROOM "" "" "SEES;USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tightloop/${name}/*.cpp)
  list(TRANSFORM ROOM_SEES PREPEND tightloop_)
  if(sources)
    add_library(tightloop_${name} STATIC ${sources})
    target_include_directories(tightloop_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(tightloop_${name} PUBLIC ${ROOM_SEES} PRIVATE ${ROOM_USES})
    set(TIGHTLOOP_ROOMS ${TIGHTLOOP_ROOMS} tightloop_${name} CACHE INTERNAL "")
  else()
    add_library(tightloop_${name} INTERFACE)
    target_include_directories(tightloop_${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(tightloop_${name} INTERFACE ${ROOM_SEES})
  endif()
endfunction()

# A folder of the backends with a library that only it may include.
function(tightloop_backend_part folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tightloop/backends/${folder}/*.cpp)
  string(REPLACE / _ name ${folder})
  if(sources)
    add_library(tightloop_${name} OBJECT ${sources})
    target_link_libraries(tightloop_${name} PRIVATE tightloop_ops fmt::fmt Threads::Threads OpenMP::OpenMP_CXX ${ARGN})
    target_sources(tightloop_backends PRIVATE $<TARGET_OBJECTS:tightloop_${name}>)
    target_link_libraries(tightloop_backends PRIVATE ${ARGN})
    set(TIGHTLOOP_ROOMS ${TIGHTLOOP_ROOMS} tightloop_${name} CACHE INTERNAL "")
  endif()
endfunction()

# backends is put together from parts, so that LLVM and oneDNN headers reach only the folders that may use them.
function(tightloop_backends_room)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tightloop/backends/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/backends/cpu/(codegen|runtime|library)/")
  file(WRITE ${PROJECT_BINARY_DIR}/backends_anchor.cpp.new "// Lets the room be a library while it has no sources of its own.\n")
  file(COPY_FILE ${PROJECT_BINARY_DIR}/backends_anchor.cpp.new ${PROJECT_BINARY_DIR}/backends_anchor.cpp ONLY_IF_DIFFERENT)
  add_library(tightloop_backends STATIC ${sources} ${PROJECT_BINARY_DIR}/backends_anchor.cpp)
  target_include_directories(tightloop_backends PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(tightloop_backends PUBLIC tightloop_ops
                        PRIVATE fmt::fmt Threads::Threads OpenMP::OpenMP_CXX)
  tightloop_backend_part(cpu/codegen outside_llvm outside_xxhash)
  tightloop_backend_part(cpu/runtime outside_llvm outside_xxhash)
  tightloop_backend_part(cpu/library outside_dnnl)
  set(TIGHTLOOP_ROOMS ${TIGHTLOOP_ROOMS} tightloop_backends CACHE INTERNAL "")
endfunction()

tightloop_room(base SEES USES fmt::fmt FastFloat::fast_float ZLIB::ZLIB Threads::Threads)
tightloop_room(ir SEES base USES fmt::fmt FastFloat::fast_float outside_xxhash)
tightloop_room(ops SEES ir USES fmt::fmt)
tightloop_room(passes SEES ir ops USES fmt::fmt)
tightloop_backends_room()
tightloop_room(engine SEES passes backends USES fmt::fmt outside_xxhash Threads::Threads)
tightloop_room(nn SEES engine USES fmt::fmt)
tightloop_room(optim SEES engine USES fmt::fmt)
tightloop_room(data SEES engine USES fmt::fmt FastFloat::fast_float ZLIB::ZLIB outside_xxhash outside_images
               Threads::Threads)
tightloop_room(io SEES engine USES fmt::fmt nlohmann_json::nlohmann_json FastFloat::fast_float ZLIB::ZLIB outside_xxhash)
tightloop_room(dist SEES engine optim USES fmt::fmt Threads::Threads)
tightloop_room(train SEES nn optim data io dist
               USES fmt::fmt spdlog::spdlog tomlplusplus::tomlplusplus nlohmann_json::nlohmann_json
                    FastFloat::fast_float Threads::Threads outside_xxhash)

list(TRANSFORM TIGHTLOOP_ROOMS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
add_library(tightloop SHARED ${objects})
add_library(tightloop::tightloop ALIAS tightloop)
set_target_properties(tightloop PROPERTIES VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINKER_LANGUAGE CXX)
target_compile_features(tightloop PUBLIC cxx_std_20)
target_include_directories(tightloop PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(tightloop PRIVATE fmt::fmt spdlog::spdlog tomlplusplus::tomlplusplus ZLIB::ZLIB OpenMP::OpenMP_CXX
                      Threads::Threads outside_llvm outside_dnnl outside_xxhash outside_images)
target_link_options(tightloop PRIVATE -Wl,--as-needed)
if(NOT TIGHTLOOP_SANITIZE AND NOT TIGHTLOOP_FUZZ)
  target_link_options(tightloop PRIVATE -Wl,--no-undefined)
endif()
