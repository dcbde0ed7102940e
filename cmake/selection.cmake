# A build for given models: `foveal needs MODEL...` prints these lists. Empty: everything.
# sdk_core/base/selection.h and imgproc/CMakeLists.txt say how the rest is left out.
set(FOVEAL_OPERATORS "" CACHE STRING "Operators of the build, e.g. conv2d;relu")
set(FOVEAL_PROFILES "" CACHE STRING "Profiles of image pipelines: cv2;pillow;torch; exact: no more than exact and fast")
set(FOVEAL_DECODERS "" CACHE STRING "Decoders of model outputs, e.g. ssd;nms")
if(FOVEAL_OPERATORS)
  # What the core itself makes of models.
  set(selected ${FOVEAL_OPERATORS} raster relayout reshape)
  list(REMOVE_DUPLICATES selected)
  list(JOIN selected "," selected)
  add_compile_definitions(FOVEAL_OPERATORS="${selected}")
endif()
if(FOVEAL_PROFILES)
  set(selected ${FOVEAL_PROFILES} exact)
  list(JOIN selected "," selected)
  add_compile_definitions(FOVEAL_PROFILES="${selected}")
endif()
