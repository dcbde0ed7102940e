// foveal.h: models and sessions.
#include <cstdlib>
#include <cstring>

#include "base/dlpack.h"
#include "foveal/foveal.h"
#include "graph/model_file.h"
#include "session/session.h"

using namespace foveal;

struct fv_session {
  std::unique_ptr<Session> session;
};

namespace {

fv_status* describe(const fv_model* model, const std::vector<int>& list, size_t i, fv_tensor* out) {
  if (i >= list.size())
    return Status(FV_INVALID_ARGUMENT, format("index %zu, expected less than %zu", i, list.size()))
        .release();
  const Value& v = model->graph.value(list[i]);
  fv_tensor t{};
  t.abi = out->abi;
  t.name = v.name.c_str();
  t.dtype = v.type.dtype;
  t.rank = v.type.rank();
  for (int d = 0; d < t.rank; ++d) t.dims[d] = v.type.dims[static_cast<size_t>(d)];
  t.layout = kPlain;
  *out = t;
  return nullptr;
}

fv_status* make_model(Result<Graph> graph, fv_model** out) {
  if (!graph.ok()) return graph.status().release();
  *out = new fv_model(graph.take());
  return nullptr;
}

fv_status* share(fv_session& s, const fv_tensor& view, void** out) {
  auto made = dlpack_of_view(view, s.session->memory());
  if (!made.ok()) return made.status().release();
  *out = made.take();
  return nullptr;
}

}  // namespace

extern "C" {

fv_status* fv_model_open(const char* path, fv_model** out) {
  return make_model(open_model(path), out);
}
fv_status* fv_model_open_memory(const void* data, size_t bytes, fv_model** out) {
  const Constant copy = Constant::copy_of(data, bytes);
  if (!copy) return Status(FV_OUT_OF_MEMORY, "no memory for a copy of the model").release();
  return make_model(open_model(copy.data, bytes, copy.owner), out);
}
fv_model* fv_model_retain(fv_model* model) {
  model->references.fetch_add(1);
  return model;
}
void fv_model_release(fv_model* model) { ModelRef::release(model); }
size_t fv_model_inputs(const fv_model* m) { return m->graph.inputs.size(); }
size_t fv_model_outputs(const fv_model* m) { return m->graph.outputs.size(); }
fv_status* fv_model_input(const fv_model* m, size_t i, fv_tensor* out) {
  return describe(m, m->graph.inputs, i, out);
}
fv_status* fv_model_output(const fv_model* m, size_t i, fv_tensor* out) {
  return describe(m, m->graph.outputs, i, out);
}
const char* fv_model_dim_name(const fv_model* m, int32_t is_output, size_t i, int32_t dim) {
  const std::vector<int>& list = is_output ? m->graph.outputs : m->graph.inputs;
  if (i >= list.size()) return "";
  const std::vector<std::string>& names = m->graph.value(list[i]).dim_names;
  return dim < 0 || static_cast<size_t>(dim) >= names.size()
             ? ""
             : names[static_cast<size_t>(dim)].c_str();
}
const char* fv_model_meta(const fv_model* m, const char* key) {
  const auto it = m->graph.meta.find(key);
  return it == m->graph.meta.end() ? nullptr : it->second.c_str();
}
size_t fv_model_meta_count(const fv_model* m) { return m->graph.meta.size(); }
const char* fv_model_meta_key(const fv_model* m, size_t i) {
  for (const auto& [key, value] : m->graph.meta)
    if (i-- == 0) return key.c_str();
  return nullptr;
}

fv_status* fv_session_new(fv_model* model, const fv_session_options* o, fv_session** out) {
  SessionOptions options;
  if (o) {
    options.devices = o->devices ? o->devices : "";
    options.threads = o->threads;
    options.fuse = !(o->flags & FV_SESSION_NO_FUSION);
    options.profile = (o->flags & FV_SESSION_PROFILE) != 0;
  }
  auto created = Session::create(model, options);
  if (!created.ok()) return created.status().release();
  *out = new fv_session{created.take()};
  return nullptr;
}
void fv_session_free(fv_session* s) { delete s; }
fv_status* fv_session_resize(fv_session* s, size_t input, int32_t rank, const int64_t* dims) {
  if (rank < 0 || rank > FV_MAX_RANK)
    return Status(FV_SHAPE_ERROR, format("rank is %d, expected 0 to %d", rank, FV_MAX_RANK))
        .release();
  return s->session->resize(input, Dims(dims, dims + rank)).release();
}
fv_status* fv_session_input(fv_session* s, size_t i, fv_tensor* out) {
  return s->session->input(i, out).release();
}
fv_status* fv_session_output(fv_session* s, size_t i, fv_tensor* out) {
  return s->session->output(i, out).release();
}
fv_status* fv_session_run(fv_session* s) {
  bool pending;
  return s->session->start(true, &pending).release();
}
fv_status* fv_session_start(fv_session* s, int32_t* pending) {
  bool p = false;
  Status status = s->session->start(false, &p);
  *pending = p;
  return status.release();
}
fv_status* fv_session_poll(fv_session* s, int32_t wait, int32_t* pending) {
  bool p = false;
  Status status = s->session->poll(wait != 0, &p);
  *pending = p;
  return status.release();
}
fv_status* fv_session_explain(fv_session* s, char** out) {
  auto text = s->session->explain();
  if (!text.ok()) return text.status().release();
  *out = static_cast<char*>(std::malloc(text.value().size() + 1));
  if (!*out) return Status(FV_OUT_OF_MEMORY, "no memory for a text").release();
  std::memcpy(*out, text.value().c_str(), text.value().size() + 1);
  return nullptr;
}
fv_status* fv_session_profile(fv_session* s, const char* path) {
  return s->session->write_profile(path).release();
}
fv_pool* fv_session_pool(fv_session* s) { return s->session->pool(); }

fv_status* fv_tensor_from_dlpack(void* managed, fv_tensor* out) {
  return view_of_dlpack(static_cast<DLManagedTensor*>(managed), out).release();
}
fv_status* fv_session_input_dlpack(fv_session* s, size_t i, void** out) {
  fv_tensor view{};
  view.abi = FV_ABI_INIT(fv_tensor);
  if (Status e = s->session->input(i, &view); !e.ok()) return e.release();
  return share(*s, view, out);
}
fv_status* fv_session_output_dlpack(fv_session* s, size_t i, void** out) {
  fv_tensor view{};
  view.abi = FV_ABI_INIT(fv_tensor);
  if (Status e = s->session->output(i, &view); !e.ok()) return e.release();
  return share(*s, view, out);
}

}  // extern "C"
