/* Image pipeline: camera frames and photos into tensors, model outputs back into frame
 * coordinates. C99; pairs with foveal/types.h only.
 *
 * Conventions. Pixel (i, j) covers [i, i+1) x [j, j+1); coordinates are continuous, x right,
 * y down. "Sensor" pixels lie as in memory; "upright" pixels are those after the frame's
 * rotation (clockwise) and then its mirror. ROIs, boxes and points are upright.
 *
 * Ownership. Whoever calls owns all pixel and tensor memory, which need only live for the call.
 * Handles are freed with their own _free (NULL is fine). Strings live as long as their handle.
 * A function that returns fv_status* returns NULL on success.
 *
 * Threads. Specs and decoders are immutable once made: share them freely. A plan is used by one
 * thread at a time (it may spread its own work over a pool).
 */
#ifndef FOVEAL_IMGPROC_H_
#define FOVEAL_IMGPROC_H_

#include "foveal/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Everything declared here is exported, whatever visibility the library is built with. */
#if defined(__GNUC__)
#define FV_IMAGE_API __attribute__((visibility("default")))
#else
#define FV_IMAGE_API
#endif

/* ---- Frames -------------------------------------------------------------------------- */

/* 16-bit and float components are native-endian and lie at addresses and strides that are multiples
 * of their size. Chroma planes of half size are rounded up. A pixel_stride makes room for what is
 * not read: FV_RGB16 with 8 is RGBA of 16 bits, FV_I420 with chroma strides of 2 is YUV_420_888. */
typedef int32_t fv_pixel_format;
enum {
  FV_RGB = 1,
  FV_BGR = 2,
  FV_RGBA = 3, /* alpha is ignored */
  FV_BGRA = 4,
  FV_GRAY = 5,
  FV_NV12 = 6,       /* 4:2:0; planes: Y, UV interleaved at half size */
  FV_NV21 = 7,       /* planes: Y, VU interleaved */
  FV_I420 = 8,       /* planes: Y, U, V; of YUV_420_888 they may overlap in any way */
  FV_GRAY_ALPHA = 9, /* alpha is ignored */
  FV_RGB16 = 10,     /* uint16, 0..65535 as 0..255 */
  FV_BGR16 = 11,
  FV_GRAY16 = 12,
  FV_RGBF32 = 13, /* float, 0..1 as 0..255; what lies outside is clamped, NaN is 0 */
  FV_BGRF32 = 14,
  FV_GRAYF32 = 15,
  FV_YV12 = 16, /* 4:2:0; planes: Y, V, U */
  FV_NV16 = 17, /* 4:2:2; planes: Y, UV interleaved at half width */
  FV_NV61 = 18, /* planes: Y, VU interleaved */
  FV_I422 = 19, /* planes: Y, U, V at half width */
  FV_I444 = 20, /* planes: Y, U, V */
  FV_YUYV = 21, /* 4:2:2 in one plane: Y U Y V of two pixels; rows hold whole pairs */
  FV_UYVY = 22,
  FV_P010 = 23, /* as NV12, 10 bits at the top of uint16; the lower 6 add precision (P012, P016) */
  FV_I010 = 24  /* as I420, 10 bits at the bottom of uint16 */
};

typedef int32_t fv_color_matrix;
enum { FV_MATRIX_UNKNOWN = 0, FV_BT601 = 1, FV_BT709 = 2, FV_BT2020 = 3 };
typedef int32_t fv_color_range;
enum { FV_RANGE_UNKNOWN = 0, FV_LIMITED = 1, FV_FULL = 2 };
/* Where the chroma samples of subsampled formats lie among the luma samples of their block: amid
 * them (JPEG, MPEG-1), amid those at its left (MPEG-2, H.264, HEVC), on the top left one (BT.2020).
 */
typedef int32_t fv_chroma_siting;
enum { FV_SITING_UNKNOWN = 0, FV_SITING_CENTER = 1, FV_SITING_LEFT = 2, FV_SITING_TOP_LEFT = 3 };

typedef struct fv_plane {
  const void* data;
  uint64_t bytes;       /* readable from data: mandatory. The last row may be short */
  int64_t row_stride;   /* bytes between rows; 0 = tight */
  int64_t pixel_stride; /* bytes between pixels; 0 = natural for the format */
} fv_plane;

typedef struct fv_frame {
  fv_abi abi;
  fv_pixel_format format;
  int32_t width; /* sensor pixels */
  int32_t height;
  int32_t rotation;       /* 0, 90, 180, 270: clockwise degrees that make it upright */
  int32_t mirror;         /* 1: left and right are exchanged, after the rotation */
  fv_color_matrix matrix; /* YUV formats only */
  fv_color_range range;
  int32_t plane_count;
  fv_plane planes[4];
  /* x, y, width, height of the part that is the picture, sensor pixels; all 0: the whole frame. Any
   * offset, odd ones within chroma blocks too. ROIs, boxes and transforms are the picture's: its
   * corner is (0, 0), and what lies around it is never read. */
  int32_t visible[4];
  fv_chroma_siting siting; /* matters to linear chroma only */
  int32_t reserved;
} fv_frame;

/* Fails with FV_FRAME_ERROR naming the field, what was expected and what came. */
FV_IMAGE_API fv_status* fv_frame_check(const fv_frame* frame);

/* ---- Transform: tensor <-> frame -------------------------------------------------------- */

/* What a plan actually did, as a value: copy it, keep it, send it. */
typedef struct fv_transform {
  fv_abi abi;
  double to_upright[9];   /* tensor pixels -> upright frame pixels, row-major, continuous */
  double from_upright[9]; /* its inverse */
  int32_t tensor_width, tensor_height;
  int32_t frame_width, frame_height; /* upright */
  int32_t rotation, mirror;          /* that were applied: upright <-> sensor */
  double valid[4]; /* x0, y0, x1, y1 of the tensor that holds the region, not bars */
} fv_transform;

typedef int32_t fv_space;
enum { FV_SPACE_TENSOR = 0, FV_SPACE_UPRIGHT = 1, FV_SPACE_SENSOR = 2 };

/* count points x, y, in place. */
FV_IMAGE_API fv_status* fv_transform_points(const fv_transform* t, fv_space from, fv_space to,
                                            double* xy, int64_t count);
/* count boxes x0, y0, x1, y1, in place: the upright hull of the four mapped corners. */
FV_IMAGE_API fv_status* fv_transform_boxes(const fv_transform* t, fv_space from, fv_space to,
                                           double* boxes, int64_t count);

typedef int32_t fv_mask_mode;
enum { FV_MASK_BILINEAR = 0, FV_MASK_NEAREST = 1 };

/* A mask over the tensor, mask_width x mask_height values (1..16384 a side), in the upright frame:
 * width and height must be the transform's. 0 outside of what the tensor showed; values that are
 * not finite count as 0; those of bars are not mixed in. */
FV_IMAGE_API fv_status* fv_transform_mask(const fv_transform* t, const float* mask,
                                          int32_t mask_width, int32_t mask_height,
                                          fv_mask_mode mode, float* out, int32_t width,
                                          int32_t height);

/* ---- Pipeline ------------------------------------------------------------------------- */

typedef struct fv_image_spec fv_image_spec;
typedef struct fv_image_plan fv_image_plan;

FV_IMAGE_API fv_status* fv_image_spec_from_json(const char* json, size_t bytes,
                                                fv_image_spec** out);
FV_IMAGE_API void fv_image_spec_free(fv_image_spec* spec);
/* Canonical: equal specs give equal text. */
FV_IMAGE_API const char* fv_image_spec_json(const fv_image_spec* spec);
/* SHA-256 of the canonical text, 64 hexadecimal digits. */
FV_IMAGE_API const char* fv_image_spec_digest(const fv_image_spec* spec);

typedef int32_t fv_roi_kind;
enum { FV_ROI_RECT = 1, FV_ROI_ROTATED = 2, FV_ROI_QUAD = 3 };
typedef struct fv_roi {
  fv_roi_kind kind;
  int32_t reserved;
  /* RECT x0, y0, x1, y1 · ROTATED cx, cy, w, h, clockwise degrees · QUAD x, y of the corners
   * that become top-left, top-right, bottom-right, bottom-left */
  double v[8];
} fv_roi;

/* Width, height of the tensor for this frame: the spec's own, or what its flexible size makes of
 * the region. Takes what fv_image_plan_run takes, and refuses what it refuses. */
FV_IMAGE_API fv_status* fv_image_spec_size(const fv_image_spec* spec, const fv_frame* frame,
                                           const fv_roi* roi, int32_t size[2]);

typedef int32_t fv_axis_order; /* of fv_tensor.dims in fv_image_plan_create */
enum { FV_NCHW = 0, FV_NHWC = 1 };

/* input: description only (data ignored): dtype, layout, four dims, -1 where the spec decides
 * (a flexible size: width and height are the caller's, one plan for each). dtype: float32, float16,
 * bfloat16, and uint8, int8, int16, which hold y rounded half to even and saturated.
 * Refuses (FV_SPEC_ERROR, FV_SHAPE_ERROR) whatever it cannot do exactly as the spec says. */
FV_IMAGE_API fv_status* fv_image_plan_create(const fv_image_spec* spec, const fv_tensor* input,
                                             fv_axis_order order, fv_image_plan** out);
/* The same for a quantised tensor of uint8, int8 or int16, which holds
 * clamp(round half to even(y / scale) + zero_point). scale > 0; zero_point is one of its values.
 * fv_model_quantization (foveal.h) gives those of a model's input. */
FV_IMAGE_API fv_status* fv_image_plan_create_quantized(const fv_image_spec* spec,
                                                       const fv_tensor* input, fv_axis_order order,
                                                       double scale, int32_t zero_point,
                                                       fv_image_plan** out);
FV_IMAGE_API void fv_image_plan_free(fv_image_plan* plan);
FV_IMAGE_API uint64_t fv_image_plan_bytes(const fv_image_plan* plan); /* of the tensor */
/* What was chosen, and for which frame the last run ran. Valid until the next call. */
FV_IMAGE_API const char* fv_image_plan_explain(fv_image_plan* plan);

/* Where to run. NULL, or parallel_for NULL: in the calling thread. Pass the core's
 * fv_parallel_for and pool; bytes written are the same for any number of threads. */
typedef struct fv_workers {
  const fv_pool* pool;
  void (*parallel_for)(const fv_pool* pool, int64_t tasks, fv_task task, void* ctx);
} fv_workers;

/* Writes the whole tensor at dst (dst_bytes >= fv_image_plan_bytes). Does not allocate on
 * success. out may be NULL. roi must be given exactly when the spec says "per_call". */
FV_IMAGE_API fv_status* fv_image_plan_run(fv_image_plan* plan, const fv_frame* frame,
                                          const fv_roi* roi, void* dst, uint64_t dst_bytes,
                                          const fv_workers* workers, fv_transform* out);

/* The same into a YUV picture instead of a tensor. plan: of color "YUV" and dtype uint8, without
 * norm (its layout does not matter). to: any YUV format of 8 bits, of the tensor's size, neither
 * turned nor mirrored, all visible; its planes are written and must not overlap the frame's. Chroma
 * is the mean of the chroma of a sample's pixels, at odd edges of those that there are. What the
 * numbers mean is said by the spec's yuv.to; matrix, range and siting of `to` are not looked at. */
FV_IMAGE_API fv_status* fv_image_plan_run_picture(fv_image_plan* plan, const fv_frame* frame,
                                                  const fv_roi* roi, const fv_frame* to,
                                                  const fv_workers* workers, fv_transform* out);

/* The same for 1 to 4096 regions of one frame, for a spec whose roi is "per_call": tensor i lies at
 * dst + i * fv_image_plan_bytes, out (NULL or one per region) receives its transform. Their work is
 * shared out together. A region that is refused leaves everything unwritten. Allocates when a batch
 * is larger than all before. */
FV_IMAGE_API fv_status* fv_image_plan_run_batch(fv_image_plan* plan, const fv_frame* frame,
                                                const fv_roi* rois, int32_t count, void* dst,
                                                uint64_t dst_bytes, const fv_workers* workers,
                                                fv_transform* out);

/* ---- ROI rules ------------------------------------------------------------------------- */

/* How a detection or landmarks become the region that the next model looks at. Immutable. */
typedef struct fv_roi_rule fv_roi_rule;

FV_IMAGE_API fv_status* fv_roi_rule_from_json(const char* json, size_t bytes, fv_roi_rule** out);
FV_IMAGE_API void fv_roi_rule_free(fv_roi_rule* rule);
FV_IMAGE_API const char* fv_roi_rule_json(const fv_roi_rule* rule); /* canonical */

/* box: x0, y0, x1, y1 (NULL if the rule's hull is not the box). points: count * values numbers,
 * each point beginning with x, y (values >= 2). Upright frame pixels. Gives an FV_ROI_ROTATED,
 * or an FV_ROI_QUAD if the rule mirrors.
 * FV_INVALID_ARGUMENT for what makes no region: a point that is used and missing or not finite, a
 * hull without area. */
FV_IMAGE_API fv_status* fv_roi_rule_apply(const fv_roi_rule* rule, const float* box,
                                          const float* points, int32_t count, int32_t values,
                                          fv_roi* out);

/* ---- Decoders -------------------------------------------------------------------------- */

typedef struct fv_decoder fv_decoder;

typedef int32_t fv_decoder_result;
enum {
  FV_DETECTIONS = 1, /* fv_decoder_run: any number of boxes, best first */
  FV_CLASSES = 2,    /* fv_decoder_run: the best classes; each box is the region that was seen */
  FV_LANDMARKS = 3,  /* fv_decoder_run: no or one detection; its box is the hull of its points */
  FV_MASK = 4,       /* fv_decoder_run_mask */
  FV_TEXT = 5        /* fv_decoder_run_text */
};

typedef struct fv_detection {
  int32_t label; /* class column of the model */
  float score;
  float box[4]; /* x0, y0, x1, y1, upright frame pixels */
} fv_detection;

FV_IMAGE_API fv_status* fv_decoder_from_json(const char* json, size_t bytes, fv_decoder** out);
FV_IMAGE_API void fv_decoder_free(fv_decoder* decoder);
FV_IMAGE_API const char* fv_decoder_json(const fv_decoder* decoder); /* canonical */
FV_IMAGE_API fv_decoder_result fv_decoder_gives(const fv_decoder* decoder);
FV_IMAGE_API int32_t fv_decoder_max(const fv_decoder* decoder); /* most detections of a run */
/* Per detection. Of "text_boxes": 4, the corners of the text's quad, clockwise from its top-left
 * in reading direction. */
FV_IMAGE_API int32_t fv_decoder_points(const fv_decoder* decoder);
/* Per point. 2: x, y; 5: x, y, z (in the unit of x), visibility, presence (0..1; 1 where the model
 * gives none). */
FV_IMAGE_API int32_t fv_decoder_point_values(const fv_decoder* decoder);

/* The three runs. tensors: the model's outputs, plain float32, found by name. Values that are not
 * finite are never reported. The run that does not fit fv_decoder_gives is FV_INVALID_ARGUMENT. */

/* Writes at most capacity detections (best first) and, unless NULL, points:
 * capacity * fv_decoder_points * fv_decoder_point_values. */
FV_IMAGE_API fv_status* fv_decoder_run(const fv_decoder* decoder, const fv_tensor* tensors,
                                       size_t tensor_count, const fv_transform* transform,
                                       fv_detection* detections, float* points, int32_t capacity,
                                       int32_t* count);
/* Writes the whole mask: rows of the upright frame, whose size width and height must be; values
 * 0..1, bilinear between those of the model, 0 outside of the region it saw. */
FV_IMAGE_API fv_status* fv_decoder_run_mask(const fv_decoder* decoder, const fv_tensor* tensors,
                                            size_t tensor_count, const fv_transform* transform,
                                            float* mask, int32_t width, int32_t height);
/* Symbols in reading order: class columns of the model, each with its score. Writes at most
 * capacity of them; count receives how many there are, which may be more: then run again. */
FV_IMAGE_API fv_status* fv_decoder_run_text(const fv_decoder* decoder, const fv_tensor* tensors,
                                            size_t tensor_count, int32_t* symbols, float* scores,
                                            int32_t capacity, int32_t* count);

/* ---- Drawing on 8-bit images ------------------------------------------------------------- */

typedef struct fv_canvas {
  fv_pixel_format format; /* RGB, BGR, RGBA, BGRA, GRAY, NV12, NV21 */
  int32_t width;
  int32_t height;
  int32_t reserved;
  void* data;
  uint64_t bytes;
  int64_t row_stride; /* 0 = tight */
  /* Read for NV12 and NV21 only, whose data is the luma: a chroma sample is mixed by the part of
   * its 2 x 2 pixels that a shape covers. */
  void* chroma;
  uint64_t chroma_bytes;
  int64_t chroma_row_stride; /* 0 = tight */
  fv_color_matrix matrix;
  fv_color_range range;
} fv_canvas;

/* 0xRRGGBB. Everything is clipped to the canvas; coordinates are continuous pixels. */
typedef uint32_t fv_rgb;

FV_IMAGE_API fv_status* fv_draw_box(const fv_canvas* canvas, const double box[4], int32_t thickness,
                                    fv_rgb color);
FV_IMAGE_API fv_status* fv_fill_box(const fv_canvas* canvas, const double box[4], fv_rgb color);
FV_IMAGE_API fv_status* fv_draw_line(const fv_canvas* canvas, const double from_to[4],
                                     int32_t thickness, fv_rgb color);
FV_IMAGE_API fv_status* fv_draw_point(const fv_canvas* canvas, double x, double y, double radius,
                                      fv_rgb color);
/* The outline of a circle. radius: above 0, to 65536. */
FV_IMAGE_API fv_status* fv_draw_circle(const fv_canvas* canvas, double x, double y, double radius,
                                       int32_t thickness, fv_rgb color);
/* Lines through count points x, y, with round joints; closed: back to the first one. */
FV_IMAGE_API fv_status* fv_draw_polyline(const fv_canvas* canvas, const double* xy, int32_t count,
                                         int32_t closed, int32_t thickness, fv_rgb color);
/* The inside of a polygon (even-odd), with soft edges. Fewer than three points have none. */
FV_IMAGE_API fv_status* fv_fill_polygon(const fv_canvas* canvas, const double* xy, int32_t count,
                                        fv_rgb color);
/* Tints what a mask of the canvas' size covers: at 1 (values are clamped to 0..1, NaN is 0),
 * `strength` (0..1) of a pixel is the colour. */
FV_IMAGE_API fv_status* fv_draw_mask(const fv_canvas* canvas, const float* mask, int32_t width,
                                     int32_t height, double strength, fv_rgb color);
/* Built-in font, ASCII 32..126 (others become '?'); x, y: top-left corner of the first cell.
 * A cell is 6 x 10 pixels times scale. */
FV_IMAGE_API fv_status* fv_draw_text(const fv_canvas* canvas, int32_t x, int32_t y,
                                     const char* text, size_t bytes, int32_t scale, fv_rgb color);

#ifdef __cplusplus
}
#endif
#endif
