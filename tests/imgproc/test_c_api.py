"""The C API by itself: a C99 program over libfoveal_imgproc; a run allocates nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from foveal import _core

ROOT = Path(__file__).parents[2]
LIBRARIES = Path(_core.__file__ or ".").parent

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "foveal/foveal.h"
#include "foveal/imgproc.h"

static long allocations;
extern void* __libc_malloc(size_t);
void* malloc(size_t n) { ++allocations; return __libc_malloc(n); }

static int failed(fv_status* s) {
  if (!s) return 0;
  printf("%d %s\n", (int)fv_status_code(s), fv_status_message(s));
  fv_status_free(s);
  return 1;
}

int main(void) {
  static const char json[] =
      "{\"size\":[64,48],\"roi\":\"per_call\",\"fit\":{\"k\":\"letterbox\"}}";
  static unsigned char y[120 * 80], uv[120 * 40];
  static float out[3 * 64 * 48], batch[3][3 * 64 * 48];
  fv_roi rois[3] = {{FV_ROI_RECT, 0, {0, 0, 50, 60}},
                    {FV_ROI_RECT, 0, {9, 9, 80, 70}},
                    {FV_ROI_RECT, 0, {-5, 0, 30, 30}}};
  fv_transform transforms[3];
  fv_image_plan* bytes = NULL;
  int same;
  static const char filter[] =
      "{\"size\":[64,48],\"sample\":{\"k\":\"lanczos3\",\"antialias\":true}}";
  fv_image_spec* spec = NULL;
  fv_image_plan* plan = NULL;
  fv_image_plan* filtered = NULL;
  fv_image_plan* none = NULL;
  fv_tensor tensor;
  fv_frame frame;
  fv_transform transform;
  fv_roi roi = {FV_ROI_RECT, 0, {10, 10, 90, 70}};
  static const char strip[] =
      "{\"size\":{\"k\":\"strip\",\"height\":48,\"width\":[64,640]},\"roi\":\"per_call\"}";
  static const char rule_json[] =
      "{\"hull\":\"box\",\"rotation\":{\"from\":[0],\"to\":[1],\"degrees\":90},\"square\":\"long\"}";
  fv_roi_rule* rule = NULL;
  static const char yuv_json[] = "{\"size\":[64,47],\"color\":\"YUV\"}";
  static unsigned char made[3][64 * 48];
  fv_frame to;
  const float found[4] = {10, 20, 30, 60};
  const float points[6] = {0, 0, 9, 5, 0, 9}; /* two of three values */
  int32_t size[2];
  double box[4] = {0, 0, 64, 48};
  long before, grown = 0;
  int i;
  memset(y, 200, sizeof y);
  memset(uv, 128, sizeof uv);
  memset(&tensor, 0, sizeof tensor);
  tensor.abi.struct_size = sizeof tensor;
  tensor.dtype = FV_FLOAT32;
  tensor.rank = 4;
  for (i = 0; i < 4; ++i) tensor.dims[i] = -1;
  tensor.layout.id = FV_LAYOUT_PLAIN;
  memset(&frame, 0, sizeof frame);
  frame.abi.struct_size = sizeof frame;
  frame.format = FV_NV12;
  frame.width = 120;
  frame.height = 80;
  frame.matrix = FV_BT601;
  frame.range = FV_FULL;
  frame.plane_count = 2;
  frame.planes[0].data = y;
  frame.planes[0].bytes = sizeof y;
  frame.planes[1].data = uv;
  frame.planes[1].bytes = sizeof uv;
  if (failed(fv_image_spec_from_json(json, sizeof json - 1, &spec)) ||
      failed(fv_image_plan_create(spec, &tensor, FV_NCHW, &plan)))
    return 1;
  fv_image_spec_free(spec);
  before = allocations;
  for (i = 0; i < 8; ++i) {
    frame.rotation = i % 4 * 90;
    frame.width = 120 - i;
    roi.kind = i < 4 ? FV_ROI_RECT : FV_ROI_ROTATED;
    if (failed(fv_image_plan_run(plan, &frame, &roi, out, sizeof out, NULL, &transform)) ||
        failed(fv_transform_boxes(&transform, FV_SPACE_TENSOR, FV_SPACE_UPRIGHT, box, 1)))
      return 1;
  }
  printf("allocations %ld pixel %g corner %g\n", allocations - before, out[24 * 64 + 32], out[0]);
  rois[1] = roi; /* that of the last run */
  for (i = 0; i < 2; ++i) {
    before = allocations;
    if (failed(fv_image_plan_run_batch(plan, &frame, rois, 3, batch, sizeof batch, NULL,
                                       transforms)))
      return 1;
  }
  before = allocations - before; /* of the second batch */
  same = !memcmp(batch[1], out, sizeof out) &&
         !memcmp(&transforms[1], &transform, sizeof transform);
  if (failed(fv_image_spec_from_json(filter, sizeof filter - 1, &spec)) ||
      failed(fv_image_plan_create(spec, &tensor, FV_NCHW, &filtered)))
    return 1;
  fv_image_spec_free(spec);
  for (i = 0; i < 12; ++i) { /* tables grow in the first turn of the geometries only */
    if (i == 4) grown = allocations;
    frame.rotation = i % 4 * 90;
    frame.width = 120 - i % 4;
    if (failed(fv_image_plan_run(filtered, &frame, NULL, out, sizeof out, NULL, &transform)))
      return 1;
  }
  printf("filter: allocations %ld pixel %g\n", allocations - grown, out[24 * 64 + 32]);
  fv_image_plan_free(filtered);
  frame.width = 113;
  if (failed(fv_image_spec_from_json(strip, sizeof strip - 1, &spec)) ||
      failed(fv_roi_rule_from_json(rule_json, sizeof rule_json - 1, &rule)) ||
      failed(fv_roi_rule_apply(rule, found, points, 2, 3, &roi)))
    return 1;
  printf("region %d: %g %g %g %g %g\n", (int)roi.kind, roi.v[0], roi.v[1], roi.v[2], roi.v[3],
         roi.v[4]);
  roi.v[2] = 100;
  if (failed(fv_image_spec_size(spec, &frame, &roi, size))) return 1;
  printf("size %d %d\n", (int)size[0], (int)size[1]);
  failed(fv_image_plan_create(spec, &tensor, FV_NCHW, &none));
  failed(fv_image_spec_size(spec, NULL, &roi, size));
  failed(fv_roi_rule_apply(rule, found, NULL, 2, 3, &roi));
  failed(fv_roi_rule_apply(rule, NULL, points, 2, 3, &roi));
  failed(fv_roi_rule_apply(rule, found, points, 2, 1, &roi));
  fv_roi_rule_free(rule);
  fv_roi_rule_free(NULL);
  fv_image_spec_free(spec);
  frame.planes[1].bytes = 10;
  failed(fv_image_plan_run(plan, &frame, &roi, out, sizeof out, NULL, NULL));
  failed(fv_image_plan_run(plan, &frame, &roi, out, 10, NULL, NULL));
  failed(fv_image_plan_run(plan, NULL, &roi, out, sizeof out, NULL, NULL));
  failed(fv_image_spec_from_json("{", 1, &spec));
  printf("batch: allocations %ld, same %d\n", before, same);
  failed(fv_image_plan_run_batch(plan, &frame, rois, 0, batch, sizeof batch, NULL, NULL));
  failed(fv_image_plan_run_batch(plan, &frame, rois, 3, batch, sizeof batch - 1, NULL, NULL));
  failed(fv_image_plan_run_batch(plan, &frame, NULL, 3, batch, sizeof batch, NULL, NULL));
  fv_image_spec_from_json(json, sizeof json - 1, &spec);
  tensor.dtype = FV_INT8;
  failed(fv_image_plan_create_quantized(spec, &tensor, FV_NHWC, 0.0, 3, &bytes));
  failed(fv_image_plan_create_quantized(spec, &tensor, FV_NHWC, 0.5, 128, &bytes));
  if (failed(fv_image_plan_create_quantized(spec, &tensor, FV_NHWC, 0.5, 3, &bytes))) return 1;
  printf("bytes %d\n", (int)fv_image_plan_bytes(bytes));
  fv_image_plan_free(bytes);
  fv_image_spec_free(spec);
  tensor.dtype = FV_UINT8;
  if (failed(fv_image_spec_from_json(yuv_json, sizeof yuv_json - 1, &spec)) ||
      failed(fv_image_plan_create(spec, &tensor, FV_NCHW, &bytes)))
    return 1;
  fv_image_spec_free(spec);
  frame.planes[1].bytes = sizeof uv;
  frame.rotation = 0;
  to = frame;
  to.format = FV_I420;
  to.width = 64;
  to.height = 47;
  to.plane_count = 3;
  for (i = 0; i < 3; ++i) {
    to.planes[i].data = made[i];
    to.planes[i].bytes = i ? 32 * 24 : 64 * 47;
  }
  before = allocations;
  if (failed(fv_image_plan_run_picture(bytes, &frame, NULL, &to, NULL, &transform))) return 1;
  printf("picture: allocations %ld luma %d chroma %d %d end %d\n", allocations - before,
         made[0][64 * 47 - 1], made[1][0], made[2][32 * 24 - 1], made[1][32 * 24]);
  failed(fv_image_plan_run_picture(bytes, &frame, NULL, NULL, NULL, NULL));
  failed(fv_image_plan_run_picture(plan, &frame, NULL, &to, NULL, NULL));
  fv_image_plan_free(bytes);
  fv_image_plan_free(plan);
  fv_image_plan_free(NULL);
  return 0;
}
"""


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("gcc"), reason="needs Linux, gcc")
def test_c_program(tmp_path: Path) -> None:
    if not (LIBRARIES / "libfoveal_imgproc.so").exists():
        pytest.skip("the libraries do not lie beside the binding")
    (tmp_path / "main.c").write_text(PROGRAM)
    includes = [ROOT / "sdk_core" / "include", ROOT / "imgproc" / "include"]
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "main.c", "-o", "main"]
    command += [f"-I{path}" for path in includes]
    command += [f"-L{LIBRARIES}", "-lfoveal_imgproc", "-lfoveal", f"-Wl,-rpath,{LIBRARIES}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "allocations 0 pixel 200 corner 114"
    assert lines.pop(1) == "filter: allocations 0 pixel 200"
    assert lines[1] == "region 2: 20 40 40 40 90"
    assert lines[2] == "size 120 48"
    assert lines[3].startswith("6 image plan: tensor: the spec's size depends on the frame")
    assert lines[4].startswith("1 fv_image_spec_size: frame is NULL")
    assert lines[5].startswith("1 fv_roi_rule_apply: an argument is NULL")
    assert lines[6].startswith("1 roi rule: box: the rule's hull is the box, got none")
    assert lines[7].startswith("1 roi rule: points: expected [n, 2 or more], got [2, 1]")
    assert lines[8].startswith("8 frame: NV12 plane 1: byte_len")
    assert lines[9].startswith("1 image plan: dst: expected at least 36864 bytes, got 10")
    assert lines[10].startswith("1 fv_image_plan_run: frame is NULL")
    assert lines[11].startswith("9 pipeline spec: not valid JSON at byte 1")
    assert lines[12] == "batch: allocations 0, same 1"
    assert lines[13].startswith("1 image plan: count: expected 1 to 4096 regions, got 0")
    assert lines[14].startswith("1 image plan: dst: expected at least 110592 bytes, got 110591")
    assert lines[15].startswith("1 fv_image_plan_run_batch: rois is NULL")
    assert lines[16].startswith("9 image plan: tensor: quantisation: scale: expected a finite")
    assert lines[17].startswith("9 image plan: tensor: quantisation: zero point: expected one")
    assert lines[18] == "bytes 9216"
    assert lines[19] == "picture: allocations 0 luma 200 chroma 128 128 end 0"
    assert lines[20].startswith("1 fv_image_plan_run_picture: to is NULL")
    assert lines[21].startswith('1 image plan: to: expected a plan of color "YUV"')
