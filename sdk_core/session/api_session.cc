// foveal.h: models and sessions.
#include <cstdlib>
#include <cstring>

#include "base/dlpack.h"
#include "base/guard.h"
#include "foveal/foveal.h"
#include "graph/model_file.h"
#include "session/session.h"

using namespace foveal;

struct fv_session {
  std::unique_ptr<Session> session;
};

namespace {

Status check_index(const std::vector<int>& list, size_t i) {
  if (i < list.size()) return ok();
  return Status(FV_INVALID_ARGUMENT, format("index %zu, expected less than %zu", i, list.size()));
}

Status describe(const fv_model* model, const std::vector<int>& list, size_t i, fv_tensor* out) {
  FV_TRY(check_index(list, i));
  const Value& v = model->graph.value(list[i]);
  fv_tensor t{};
  t.abi = out->abi;
  t.name = v.name.c_str();
  t.dtype = v.type.dtype;
  t.rank = v.type.rank();
  for (int d = 0; d < t.rank; ++d) t.dims[d] = v.type.dims[static_cast<size_t>(d)];
  t.layout = kPlain;
  *out = t;
  return ok();
}

Status make_model(Result<Graph> graph, fv_model** out) {
  if (!graph.ok()) return std::move(graph.status());
  *out = new fv_model(graph.take());
  return ok();
}

Status share(fv_session& s, const fv_tensor& view, void** out) {
  FV_ASSIGN(*out, dlpack_of_view(view, s.session->memory()));
  return ok();
}

}  // namespace

extern "C" {

fv_status* fv_model_open(const char* path, fv_model** out) {
  return guard(__func__, {{"path", path}, {"out", out}},
               [&] { return make_model(open_model(path), out); });
}
fv_status* fv_model_open_memory(const void* data, size_t bytes, fv_model** out) {
  return guard(__func__, {{"data", data, bytes}, {"out", out}}, [&] {
    const Constant copy = Constant::copy_of(data, bytes);
    if (!copy) return Status(FV_OUT_OF_MEMORY, "no memory for a copy of the model");
    return make_model(open_model(copy.data, bytes, copy.owner), out);
  });
}
fv_model* fv_model_retain(fv_model* model) {
  if (model) model->references.fetch_add(1);
  return model;
}
void fv_model_release(fv_model* model) { ModelRef::release(model); }
size_t fv_model_inputs(const fv_model* m) { return m ? m->graph.inputs.size() : 0; }
size_t fv_model_outputs(const fv_model* m) { return m ? m->graph.outputs.size() : 0; }
fv_status* fv_model_input(const fv_model* m, size_t i, fv_tensor* out) {
  return guard(__func__, {{"model", m}, {"out", out}},
               [&] { return describe(m, m->graph.inputs, i, out); });
}
fv_status* fv_model_output(const fv_model* m, size_t i, fv_tensor* out) {
  return guard(__func__, {{"model", m}, {"out", out}},
               [&] { return describe(m, m->graph.outputs, i, out); });
}
const char* fv_model_dim_name(const fv_model* m, int32_t is_output, size_t i, int32_t dim) {
  if (!m) return "";
  const std::vector<int>& list = is_output ? m->graph.outputs : m->graph.inputs;
  if (i >= list.size()) return "";
  const std::vector<std::string>& names = m->graph.value(list[i]).dim_names;
  return dim < 0 || static_cast<size_t>(dim) >= names.size()
             ? ""
             : names[static_cast<size_t>(dim)].c_str();
}
fv_status* fv_model_quantization(const fv_model* m, int32_t is_output, size_t i, double* scale,
                                 int32_t* zero_point) {
  return guard(__func__, {{"model", m}, {"scale", scale}, {"zero_point", zero_point}},
               [&]() -> Status {
                 const std::vector<int>& list = is_output ? m->graph.outputs : m->graph.inputs;
                 FV_TRY(check_index(list, i));
                 const Quantization& q = m->graph.value(list[i]).quantization;
                 *scale = q ? q.scale : 1;
                 *zero_point = q ? q.zero_point : 0;
                 return ok();
               });
}
const char* fv_model_meta(const fv_model* m, const char* key) {
  if (!m || !key) return nullptr;
  for (const auto& [name, value] : m->graph.meta)  // find() would make a string of the key
    if (name == key) return value.c_str();
  return nullptr;
}
size_t fv_model_meta_count(const fv_model* m) { return m ? m->graph.meta.size() : 0; }
const char* fv_model_meta_key(const fv_model* m, size_t i) {
  if (!m) return nullptr;
  for (const auto& [key, value] : m->graph.meta)
    if (i-- == 0) return key.c_str();
  return nullptr;
}

fv_status* fv_session_new(fv_model* model, const fv_session_options* o, fv_session** out) {
  return guard(__func__, {{"model", model}, {"out", out}}, [&]() -> Status {
    SessionOptions options;
    if (o) {
      options.devices = o->devices ? o->devices : "";
      options.threads = o->threads;
      options.fuse = !(o->flags & FV_SESSION_NO_FUSION);
      options.profile = (o->flags & FV_SESSION_PROFILE) != 0;
    }
    FV_ASSIGN(auto created, Session::create(model, options));
    *out = new fv_session{std::move(created)};
    return ok();
  });
}
void fv_session_free(fv_session* s) { delete s; }
fv_status* fv_session_resize(fv_session* s, size_t input, int32_t rank, const int64_t* dims) {
  return guard(__func__, {{"session", s}, {"dims", dims, size_t{rank > 0}}}, [&] {
    if (rank < 0 || rank > FV_MAX_RANK)
      return Status(FV_SHAPE_ERROR, format("rank is %d, expected 0 to %d", rank, FV_MAX_RANK));
    return s->session->resize(input, Dims(dims, dims + rank));
  });
}
fv_status* fv_session_input(fv_session* s, size_t i, fv_tensor* out) {
  return guard(__func__, {{"session", s}, {"out", out}}, [&] { return s->session->input(i, out); });
}
fv_status* fv_session_output(fv_session* s, size_t i, fv_tensor* out) {
  return guard(__func__, {{"session", s}, {"out", out}},
               [&] { return s->session->output(i, out); });
}
fv_status* fv_session_run(fv_session* s) {
  bool pending;
  return guard(__func__, {{"session", s}}, [&] { return s->session->start(true, &pending); });
}
fv_status* fv_session_start(fv_session* s, int32_t* pending) {
  bool p = false;
  fv_status* status = guard(__func__, {{"session", s}, {"pending", pending}},
                            [&] { return s->session->start(false, &p); });
  if (pending) *pending = p;
  return status;
}
fv_status* fv_session_poll(fv_session* s, int32_t wait, int32_t* pending) {
  bool p = false;
  fv_status* status = guard(__func__, {{"session", s}, {"pending", pending}},
                            [&] { return s->session->poll(wait != 0, &p); });
  if (pending) *pending = p;
  return status;
}
fv_status* fv_session_explain(fv_session* s, char** out) {
  return guard(__func__, {{"session", s}, {"out", out}}, [&]() -> Status {
    FV_ASSIGN(const std::string text, s->session->explain());
    return give_string(text, out);
  });
}
fv_status* fv_session_profile(fv_session* s, const char* path) {
  return guard(__func__, {{"session", s}, {"path", path}},
               [&] { return s->session->write_profile(path); });
}
fv_pool* fv_session_pool(fv_session* s) { return s ? s->session->pool() : nullptr; }

fv_status* fv_tensor_from_dlpack(void* managed, fv_tensor* out) {
  return guard(__func__, {{"managed", managed}, {"out", out}},
               [&] { return view_of_dlpack(static_cast<DLManagedTensor*>(managed), out); });
}
fv_status* fv_session_input_dlpack(fv_session* s, size_t i, void** out) {
  return guard(__func__, {{"session", s}, {"out", out}}, [&]() -> Status {
    fv_tensor view{};
    view.abi = FV_ABI_INIT(fv_tensor);
    FV_TRY(s->session->input(i, &view));
    return share(*s, view, out);
  });
}
fv_status* fv_session_output_dlpack(fv_session* s, size_t i, void** out) {
  return guard(__func__, {{"session", s}, {"out", out}}, [&]() -> Status {
    fv_tensor view{};
    view.abi = FV_ABI_INIT(fv_tensor);
    FV_TRY(s->session->output(i, &view));
    return share(*s, view, out);
  });
}

}  // extern "C"
