// foveal.hpp: ownership, the first error wins, views of the right type.
#include <string>

#include "check.h"
#include "foveal/foveal.hpp"

int main() {
  fv::Error e;
  CHECK(e.check(fv_plugin_add(FOVEAL_CPU_PLUGIN)));
  // A model of one operator, through the graph API and a file.
  fv_graph* g = nullptr;
  CHECK(e.check(fv_graph_new(&g)));
  const int64_t dims[] = {2, 3};
  int32_t x = -1, y = -1;
  e.check(fv_graph_add_value(g, "x", FV_FLOAT32, 2, dims, nullptr, &x));
  e.check(fv_graph_add_value(g, "y", 0, 0, nullptr, nullptr, &y));
  e.check(fv_graph_add_node(g, "neg", "n", &x, 1, &y, 1, nullptr, 0));
  e.check(fv_graph_set_io(g, &x, 1, &y, 1));
  e.check(fv_graph_set_meta(g, "license", "none"));
  const std::string path = "foveal_hpp_test.fvm";
  CHECK(e.check(fv_graph_save(g, path.c_str())));
  fv_graph_free(g);

  fv::Session session;
  {
    const fv::Model model = fv::Model::open(path, e);
    const fv::Model copy = model;
    CHECK(!e && copy.inputs() == 1 && std::string(copy.meta("license")) == "none");
    session = fv::Session::create(copy, {.devices = "cpu", .threads = 1}, e);
  }
  std::remove(path.c_str());
  auto in = session.input<float>(0, e);
  CHECK_EQ(in.size(), size_t{6});
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  session.run(e);
  const auto out = session.output<float>(0, e);
  CHECK(!e);
  for (size_t i = 0; i < out.size(); ++i) CHECK_EQ(out[i], -static_cast<float>(i));
  CHECK(session.output_shape(0, e) == (std::vector<int64_t>{2, 3}));

  CHECK(session.output<int32_t>(0, e).empty());
  CHECK_EQ(e.code(), FV_INVALID_ARGUMENT);
  const std::string first = e.text();
  session.resize(0, {5, 5}, e);  // does nothing: an error stands
  CHECK_EQ(std::string(e.text()), first);
  e.clear();
  session.resize(0, {5, 5}, e);
  CHECK_EQ(e.code(), FV_SHAPE_ERROR);
  e.clear();
  fv::Model::open("no such file", e);
  CHECK_EQ(e.code(), FV_NOT_FOUND);
  return CHECK_RESULT();
}
