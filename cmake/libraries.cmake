# SPDX-License-Identifier: Apache-2.0
# Every outside library, found once. LLVM and oneDNN are looked up by hand: their own package files ask for
# development packages (zstd, OpenCL, ...) that linking the shared libraries does not need.
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(FastFloat REQUIRED)

# One shared library found by file: name (of the target), header to look for, library, and where else to look.
function(tightloop_find name header library)
  find_path(TIGHTLOOP_${name}_INCLUDE ${header} HINTS ${ARGN} PATH_SUFFIXES include REQUIRED)
  find_library(TIGHTLOOP_${name}_LIBRARY ${library} HINTS ${ARGN} PATH_SUFFIXES lib REQUIRED)
  mark_as_advanced(TIGHTLOOP_${name}_INCLUDE TIGHTLOOP_${name}_LIBRARY)
  add_library(outside_${name} INTERFACE)
  target_include_directories(outside_${name} SYSTEM INTERFACE ${TIGHTLOOP_${name}_INCLUDE})
  target_link_libraries(outside_${name} INTERFACE ${TIGHTLOOP_${name}_LIBRARY})
endfunction()

tightloop_find(llvm llvm/Config/llvm-config.h LLVM-19 /usr/lib/llvm-19)
tightloop_find(dnnl oneapi/dnnl/dnnl.hpp dnnl)
tightloop_find(xxhash xxhash.h xxhash)
tightloop_find(jpeg jpeglib.h jpeg)
tightloop_find(png png.h png)
tightloop_find(webp webp/decode.h webp)
add_library(outside_images INTERFACE)
target_link_libraries(outside_images INTERFACE outside_jpeg outside_png outside_webp)
