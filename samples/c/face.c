/* Finds what a detector model finds (faces, with the zoo's `face`) in a binary PPM picture.
 *
 *   face MODEL.fvm PICTURE.ppm [ANNOTATED.ppm]
 *
 * C99 over foveal.h and imgproc.h alone. All that is particular to the model, how its input is made
 * of a picture and what its outputs mean, comes out of the model file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foveal/foveal.h"
#include "foveal/imgproc.h"

enum { MAX_OUTPUTS = 16, MAX_SIDE = 32768 };

typedef struct picture {
  int32_t width, height;
  unsigned char* rgb; /* width * height * 3, owned */
} picture;

/* Everything that has to be given back, so that there is one place to do it. */
typedef struct detector {
  fv_model* model;
  fv_session* session;
  fv_image_spec* spec;
  fv_image_plan* plan;
  fv_decoder* decoder;
  fv_detection* found;
  float* points; /* point_values floats per point (x, y first), fv_decoder_points per detection */
  int32_t capacity;
} detector;

static fv_status* error(fv_code code, const char* message, const char* hint) {
  return fv_status_new(code, 0, NULL, message, hint);
}

/* ---- Pictures ------------------------------------------------------------------------- */

/* A number of a PPM header, after blanks and comments; -1 if there is none. */
static long header_number(FILE* file) {
  long value = -1;
  int c = getc(file);
  while (c == '#' || c == ' ' || c == '\t' || c == '\n' || c == '\r') {
    if (c == '#')
      while (c != '\n' && c != EOF) c = getc(file);
    else
      c = getc(file);
  }
  for (; c >= '0' && c <= '9' && value < MAX_SIDE; c = getc(file))
    value = (value < 0 ? 0 : value * 10) + (c - '0');
  return value; /* one character behind the number is gone, as the format has it */
}

static fv_status* read_ppm(const char* path, picture* out) {
  FILE* file = fopen(path, "rb");
  long width, height, largest;
  size_t bytes;
  char message[512];
  if (!file) {
    snprintf(message, sizeof(message), "cannot open '%.400s': %s", path, strerror(errno));
    return error(FV_IO_ERROR, message, "check the path");
  }
  if (getc(file) != 'P' || getc(file) != '6') {
    fclose(file);
    snprintf(message, sizeof(message), "'%.400s' is not a binary PPM picture", path);
    return error(FV_FRAME_ERROR, message, "convert it, e.g. with ImageMagick or netpbm");
  }
  width = header_number(file);
  height = header_number(file);
  largest = header_number(file);
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE || largest != 255) {
    fclose(file);
    snprintf(
        message, sizeof(message),
        "'%.300s': header says %ld x %ld, largest value %ld; expected sides of 1 to %d and 255",
        path, width, height, largest, MAX_SIDE);
    return error(FV_FRAME_ERROR, message, "save it with 8 bits per channel");
  }
  bytes = (size_t)width * (size_t)height * 3;
  out->rgb = malloc(bytes);
  if (!out->rgb) {
    fclose(file);
    return error(FV_OUT_OF_MEMORY, "no memory for the picture", "");
  }
  if (fread(out->rgb, 1, bytes, file) != bytes) {
    fclose(file);
    snprintf(message, sizeof(message), "'%.400s' ends before its last pixel", path);
    return error(FV_FRAME_ERROR, message, "the file is cut short: fetch it again");
  }
  fclose(file);
  out->width = (int32_t)width;
  out->height = (int32_t)height;
  return NULL;
}

static fv_frame frame_of(const picture* p) {
  fv_frame frame;
  memset(&frame, 0, sizeof(frame));
  frame.abi.struct_size = sizeof(frame);
  frame.format = FV_RGB;
  frame.width = p->width;
  frame.height = p->height;
  frame.plane_count = 1;
  frame.planes[0].data = p->rgb;
  frame.planes[0].bytes = (uint64_t)p->width * (uint64_t)p->height * 3;
  return frame;
}

static fv_status* write_ppm(const char* path, const picture* p) {
  const size_t bytes = (size_t)p->width * (size_t)p->height * 3;
  FILE* file = fopen(path, "wb");
  char message[512];
  int good;
  if (file) {
    good = fprintf(file, "P6\n%d %d\n255\n", (int)p->width, (int)p->height) > 0 &&
           fwrite(p->rgb, 1, bytes, file) == bytes;
    if (fclose(file) == 0 && good) return NULL;
  }
  snprintf(message, sizeof(message), "cannot write '%.400s': %s", path, strerror(errno));
  return error(FV_IO_ERROR, message, "check that the folder exists and has room");
}

/* ---- The model -------------------------------------------------------------------------- */

/* A spec that the model carries, or an error that says it carries none. */
static fv_status* meta(const fv_model* model, const char* key, const char** out) {
  char message[128];
  *out = fv_model_meta(model, key);
  if (*out) return NULL;
  snprintf(message, sizeof(message), "the model carries no %s", key);
  return error(FV_MODEL_ERROR, message, "make it with: foveal convert face face.fvm");
}

/* Which dimension of a 4-D image input holds the channels. */
static fv_status* axis_order(const fv_tensor* input, fv_axis_order* out) {
  if (input->rank == 4 && (input->dims[3] == 3 || input->dims[3] == 1)) {
    *out = FV_NHWC;
    return NULL;
  }
  if (input->rank == 4 && (input->dims[1] == 3 || input->dims[1] == 1)) {
    *out = FV_NCHW;
    return NULL;
  }
  return error(FV_MODEL_ERROR, "the model's input is not an image of 1 or 3 channels",
               "use a model that detects something in pictures");
}

/* Gives an input whose size the model leaves open the size that the pipeline makes of the frame. */
static fv_status* fix_input(const detector* d, const fv_frame* frame, fv_axis_order order,
                            const fv_tensor* input) {
  int64_t dims[4];
  int32_t size[2], i, open = 0;
  fv_status* s;
  for (i = 0; i < 4; ++i) {
    dims[i] = input->dims[i];
    open |= dims[i] < 0;
  }
  if (!open) return NULL;
  if ((s = fv_image_spec_size(d->spec, frame, NULL, size))) return s;
  dims[0] = 1;
  dims[order == FV_NHWC ? 1 : 2] = size[1];
  dims[order == FV_NHWC ? 2 : 3] = size[0];
  return fv_session_resize(d->session, 0, 4, dims);
}

/* Ready for frames of this size. */
static fv_status* open_detector(detector* d, const char* path, const fv_frame* frame) {
  fv_status* s;
  fv_axis_order order = FV_NHWC;
  const char *pipeline = NULL, *decoder = NULL;
  size_t floats;
  fv_tensor input = {FV_ABI_INIT(fv_tensor), NULL, NULL, 0, 0, 0, {0}, {0, 0}};
  if ((s = fv_model_open(path, &d->model))) return s;
  if (fv_model_inputs(d->model) != 1 || fv_model_outputs(d->model) > MAX_OUTPUTS)
    return error(FV_MODEL_ERROR, "the model is no detector: it has more than one input", "");
  if ((s = meta(d->model, "pipeline", &pipeline)) || (s = meta(d->model, "decoder", &decoder)))
    return s;
  if ((s = fv_image_spec_from_json(pipeline, strlen(pipeline), &d->spec)) ||
      (s = fv_decoder_from_json(decoder, strlen(decoder), &d->decoder)) ||
      (s = fv_session_new(d->model, NULL, &d->session)) ||
      (s = fv_model_input(d->model, 0, &input)) || (s = axis_order(&input, &order)) ||
      (s = fix_input(d, frame, order, &input)) || (s = fv_session_input(d->session, 0, &input)) ||
      (s = fv_image_plan_create(d->spec, &input, order, &d->plan)))
    return s;
  d->capacity = fv_decoder_max(d->decoder);
  d->found = calloc((size_t)d->capacity + 1, sizeof(fv_detection));
  floats = (size_t)fv_decoder_points(d->decoder) * (size_t)fv_decoder_point_values(d->decoder);
  d->points = calloc((size_t)d->capacity * floats + 1, sizeof(float));
  if (!d->found || !d->points) return error(FV_OUT_OF_MEMORY, "no memory for detections", "");
  return NULL;
}

static void close_detector(detector* d) {
  free(d->points);
  free(d->found);
  fv_image_plan_free(d->plan);
  fv_session_free(d->session);
  fv_decoder_free(d->decoder);
  fv_image_spec_free(d->spec);
  fv_model_release(d->model);
}

/* Writes d->found and d->points, best first; boxes and points in pixels of the picture. */
static fv_status* detect(detector* d, const fv_frame* frame, int32_t* count) {
  const size_t outputs = fv_model_outputs(d->model);
  fv_tensor input = {FV_ABI_INIT(fv_tensor), NULL, NULL, 0, 0, 0, {0}, {0, 0}};
  fv_tensor tensors[MAX_OUTPUTS];
  fv_transform transform;
  fv_workers workers;
  fv_status* s;
  size_t i;

  memset(&transform, 0, sizeof(transform));
  transform.abi.struct_size = sizeof(transform);
  workers.pool = fv_session_pool(d->session);
  workers.parallel_for = fv_parallel_for;

  /* The picture goes straight into the session's own memory. */
  if ((s = fv_session_input(d->session, 0, &input)) ||
      (s = fv_image_plan_run(d->plan, frame, NULL, input.data, input.bytes, &workers,
                             &transform)) ||
      (s = fv_session_run(d->session)))
    return s;
  memset(tensors, 0, sizeof(tensors));
  for (i = 0; i < outputs; ++i) {
    tensors[i].abi.struct_size = sizeof(fv_tensor);
    if ((s = fv_session_output(d->session, i, &tensors[i]))) return s;
  }
  return fv_decoder_run(d->decoder, tensors, outputs, &transform, d->found, d->points, d->capacity,
                        count);
}

static fv_status* annotate(const detector* d, int32_t count, const picture* p) {
  const int32_t points = fv_decoder_points(d->decoder);
  const size_t values = (size_t)fv_decoder_point_values(d->decoder);
  fv_canvas canvas;
  fv_status* s;
  int32_t i, k;
  memset(&canvas, 0, sizeof(canvas));
  canvas.format = FV_RGB;
  canvas.width = p->width;
  canvas.height = p->height;
  canvas.data = p->rgb;
  canvas.bytes = (uint64_t)p->width * (uint64_t)p->height * 3;
  for (i = 0; i < count; ++i) {
    const double box[4] = {d->found[i].box[0], d->found[i].box[1], d->found[i].box[2],
                           d->found[i].box[3]};
    if ((s = fv_draw_box(&canvas, box, 2, 0x00E676))) return s;
    for (k = 0; k < points; ++k) {
      const float* at = d->points + ((size_t)i * (size_t)points + (size_t)k) * values;
      if ((s = fv_draw_point(&canvas, at[0], at[1], 3, 0xFFC400))) return s;
    }
  }
  return NULL;
}

/* ---- Program ---------------------------------------------------------------------------- */

static fv_status* run(int argc, char** argv, detector* d, picture* p) {
  int32_t count = 0, i;
  fv_frame frame;
  fv_status* s;
  if ((s = read_ppm(argv[2], p))) return s;
  frame = frame_of(p);
  if ((s = open_detector(d, argv[1], &frame)) || (s = detect(d, &frame, &count))) return s;
  for (i = 0; i < count; ++i)
    printf("%d %.6f %.4f %.4f %.4f %.4f\n", (int)d->found[i].label, (double)d->found[i].score,
           (double)d->found[i].box[0], (double)d->found[i].box[1], (double)d->found[i].box[2],
           (double)d->found[i].box[3]);
  if (argc < 4) return NULL;
  if ((s = annotate(d, count, p))) return s;
  return write_ppm(argv[3], p);
}

int main(int argc, char** argv) {
  detector d;
  picture p = {0, 0, NULL};
  fv_status* s;
  if (argc < 3 || argc > 4) {
    fprintf(stderr,
            "usage: %s MODEL.fvm PICTURE.ppm [ANNOTATED.ppm]\n"
            "prints one line per detection: label score x0 y0 x1 y1\n",
            argc > 0 ? argv[0] : "face");
    return 2;
  }
  memset(&d, 0, sizeof(d));
  s = run(argc, argv, &d, &p);
  if (s) fprintf(stderr, "face: %s\n", fv_status_text(s));
  close_detector(&d);
  free(p.rgb);
  if (!s) return 0;
  fv_status_free(s);
  return 1;
}
