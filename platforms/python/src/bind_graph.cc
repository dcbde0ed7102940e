// GraphBuilder, infer, ops_json: what importers and rewrite passes build with.
#include <pybind11/stl.h>

#include <deque>

#include "arrays.h"
#include "bind.h"
#include "status.h"

namespace foveal::python {
namespace {

// Attributes of one node converted from a dict; owns what the C structs point to.
class Attributes {
 public:
  explicit Attributes(const py::dict& dict) {
    for (const auto& [key, value] : dict) {
      names_.push_back(py::cast<std::string>(key));
      fv_named_attr a{names_.back().c_str(),
                      {FV_ABI_INIT(fv_attr), 0, 0, 1, nullptr, nullptr, nullptr}};
      convert(value, a.attr);
      attrs_.push_back(a);
    }
  }
  const fv_named_attr* data() const { return attrs_.data(); }
  size_t size() const { return attrs_.size(); }

 private:
  static bool is_int(const py::handle& h) {
    return py::isinstance<py::int_>(h) || py::isinstance<py::bool_>(h) ||
           (py::hasattr(h, "__index__") && !py::hasattr(h, "__len__"));
  }
  // Python's integers have no end.
  int64_t integer(const py::handle& value) const {
    const py::int_ number(py::reinterpret_borrow<py::object>(value));
    int overflow = 0;
    const int64_t result = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow)
      throw_if(fv_status_new(FV_INVALID_ARGUMENT, 0, nullptr,
                             ("attribute '" + names_.back() +
                              "': expected integers of 64 bits, got one that needs more")
                                 .c_str(),
                             nullptr));
    if (result == -1 && PyErr_Occurred()) throw py::error_already_set();
    return result;
  }
  void convert(const py::handle& value, fv_attr& out) {
    if (py::isinstance<py::str>(value)) {
      strings_.push_back(py::cast<std::string>(value));
      out.type = FV_ATTR_STRING;
      out.string = strings_.back().c_str();
      out.count = strings_.back().size();
    } else if (is_int(value)) {
      ints_.push_back({integer(value)});
      out.type = FV_ATTR_INT;
      out.ints = ints_.back().data();
    } else if (py::isinstance<py::float_>(value) || py::hasattr(value, "__float__")) {
      floats_.push_back({py::cast<double>(py::float_(py::reinterpret_borrow<py::object>(value)))});
      out.type = FV_ATTR_FLOAT;
      out.floats = floats_.back().data();
    } else {
      // No item tells the type of an empty list; typed() hands floats over as a tuple.
      bool all_ints = !py::isinstance<py::tuple>(value) || py::len(value) > 0;
      const py::sequence list = py::reinterpret_borrow<py::sequence>(value);
      for (const auto& item : list) all_ints = all_ints && is_int(item);
      if (all_ints) {
        ints_.emplace_back();
        for (const auto& item : list) ints_.back().push_back(integer(item));
        out.type = FV_ATTR_INTS;
        out.ints = ints_.back().data();
        out.count = ints_.back().size();
      } else {
        floats_.emplace_back();
        for (const auto& item : list)
          floats_.back().push_back(
              py::cast<double>(py::float_(py::reinterpret_borrow<py::object>(item))));
        out.type = FV_ATTR_FLOATS;
        out.floats = floats_.back().data();
        out.count = floats_.back().size();
      }
    }
  }
  std::vector<fv_named_attr> attrs_;
  std::deque<std::string> names_, strings_;  // deques: addresses stay
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::vector<double>> floats_;
};

// An empty list says neither int nor float, and a whole float may have been written as an int:
// the definition decides.
py::dict typed(const std::string& op, const py::dict& attrs) {
  static const py::object* known = [] {
    py::dict by_name;
    const py::object list = py::module_::import("json").attr("loads")(fv_ops_json());
    for (const auto& entry : list) {
      py::dict types;
      for (const auto& a : entry["attrs"]) types[a["name"]] = a["type"];
      by_name[entry["name"]] = types;
    }
    return new py::object(by_name);
  }();
  const py::dict table = py::reinterpret_borrow<py::dict>(*known);
  if (!table.contains(op.c_str())) return attrs;
  const py::dict types = table[op.c_str()];
  py::dict out;
  const py::object to_float = py::module_::import("builtins").attr("float");
  for (const auto& [key, value] : attrs) {
    py::object v = py::reinterpret_borrow<py::object>(value);
    const std::string type = types.contains(key) ? py::cast<std::string>(types[key]) : "";
    if (type == "float" && !py::isinstance<py::str>(v) && !py::hasattr(v, "__len__"))
      v = to_float(v);
    if (type == "floats" && py::hasattr(v, "__len__") && !py::isinstance<py::str>(v)) {
      py::list floats;
      for (const auto& item : v) floats.append(to_float(item));
      v = py::tuple(floats);
    } else if (type == "ints" && py::isinstance<py::tuple>(v)) {
      v = py::list(v);
    }
    out[key] = v;
  }
  return out;
}

class GraphBuilder {
 public:
  GraphBuilder() { throw_if(fv_graph_new(&graph_)); }
  ~GraphBuilder() { fv_graph_free(graph_); }
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  int add_value(const std::string& name, const std::string& dtype, const std::vector<int64_t>& dims,
                const std::vector<std::string>& dim_names) {
    std::vector<const char*> names(dims.size(), nullptr);
    for (size_t i = 0; i < dim_names.size() && i < dims.size(); ++i)
      names[i] = dim_names[i].c_str();
    int32_t index = 0;
    throw_if(fv_graph_add_value(graph_, name.c_str(), dtype_id(dtype),
                                static_cast<int32_t>(dims.size()), dims.data(), names.data(),
                                &index));
    return index;
  }
  int add_constant(const std::string& name, const py::array& source) {
    const std::string dtype = dtype_of(source);
    if (dtype.empty())
      throw py::type_error("constant '" + name + "': dtype " +
                           std::string(py::str(source.dtype())) + " is not supported");
    const py::array array = py::array::ensure(source, py::array::c_style);
    std::vector<int64_t> dims(array.shape(), array.shape() + array.ndim());
    int32_t index = 0;
    throw_if(fv_graph_add_constant(graph_, name.c_str(), dtype_id(dtype),
                                   static_cast<int32_t>(dims.size()), dims.data(), array.data(),
                                   &index));
    return index;
  }
  void set_quantization(int32_t value, double scale, int zero_point) {
    throw_if(fv_graph_set_quantization(graph_, value, scale, zero_point));
  }
  void add_node(const std::string& op, const std::string& name, const std::vector<int32_t>& inputs,
                const std::vector<int32_t>& outputs, const py::dict& attrs) {
    const Attributes a(typed(op, attrs));
    throw_if(fv_graph_add_node(graph_, op.c_str(), name.c_str(), inputs.data(), inputs.size(),
                               outputs.data(), outputs.size(), a.data(), a.size()));
  }
  void set_io(const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
    throw_if(fv_graph_set_io(graph_, inputs.data(), inputs.size(), outputs.data(), outputs.size()));
  }
  void set_meta(const std::string& key, const std::string& value) {
    throw_if(fv_graph_set_meta(graph_, key.c_str(), value.c_str()));
  }
  void verify() { throw_if(fv_graph_verify(graph_)); }
  py::tuple value_type(int32_t v) const {
    fv_tensor t{};
    t.abi.struct_size = sizeof(t);
    throw_if(fv_graph_value(graph_, v, &t));
    return py::make_tuple(dtype_row(t.dtype).name, std::vector<int64_t>(t.dims, t.dims + t.rank));
  }
  void save(const py::object& path) {
    throw_if(fv_graph_save(graph_, file_name("save", path).c_str()));
  }
  std::unique_ptr<PyModel> model() {
    fv_model* m = nullptr;
    throw_if(fv_graph_to_model(graph_, &m));
    return std::make_unique<PyModel>(m);
  }

 private:
  fv_graph* graph_ = nullptr;
};

py::list infer(const std::string& op, const py::list& inputs, const py::dict& attrs, int outputs) {
  std::vector<fv_tensor> in;
  for (const auto& item : inputs) {
    fv_tensor t{};
    t.abi.struct_size = sizeof(t);
    t.rank = -1;
    if (!item.is_none()) {
      const auto pair = py::cast<std::pair<std::string, std::vector<int64_t>>>(item);
      if (pair.second.size() > FV_MAX_RANK)
        throw_if(fv_status_new(
            FV_SHAPE_ERROR, 0, op.c_str(),
            (op + ": an input has rank " + std::to_string(pair.second.size()) + ", expected 0 to 8")
                .c_str(),
            nullptr));
      t.dtype = dtype_id(pair.first);
      t.rank = static_cast<int32_t>(pair.second.size());
      std::copy(pair.second.begin(), pair.second.end(), t.dims);
    }
    in.push_back(t);
  }
  std::vector<fv_tensor> out(static_cast<size_t>(outputs));
  for (fv_tensor& t : out) t.abi.struct_size = sizeof(t);
  const Attributes a(typed(op, attrs));
  throw_if(
      fv_op_infer(op.c_str(), in.data(), in.size(), a.data(), a.size(), out.data(), out.size()));
  py::list types;
  for (const fv_tensor& t : out)
    types.append(
        py::make_tuple(dtype_row(t.dtype).name, std::vector<int64_t>(t.dims, t.dims + t.rank)));
  return types;
}

}  // namespace

void bind_graph(py::module_& m) {
  py::class_<GraphBuilder>(m, "GraphBuilder", "A graph under construction; see foveal.Graph.")
      .def(py::init<>())
      .def("add_value", &GraphBuilder::add_value, py::arg("name"), py::arg("dtype"),
           py::arg("dims"), py::arg("dim_names") = std::vector<std::string>{})
      .def("add_constant", &GraphBuilder::add_constant, py::arg("name"), py::arg("array"))
      .def("set_quantization", &GraphBuilder::set_quantization, py::arg("value"), py::arg("scale"),
           py::arg("zero_point"))
      .def("add_node", &GraphBuilder::add_node, py::arg("op"), py::arg("name"), py::arg("inputs"),
           py::arg("outputs"), py::arg("attrs") = py::dict())
      .def("set_io", &GraphBuilder::set_io, py::arg("inputs"), py::arg("outputs"))
      .def("set_meta", &GraphBuilder::set_meta, py::arg("key"), py::arg("value"))
      .def("verify", &GraphBuilder::verify,
           "Checks everything and infers all types; lists all unknown operators at once.")
      .def("value_type", &GraphBuilder::value_type, py::arg("value"))
      .def("save", &GraphBuilder::save, py::arg("path"))
      .def("model", &GraphBuilder::model);
  m.def("infer", &infer, py::arg("op"), py::arg("inputs"), py::arg("attrs"), py::arg("outputs") = 1,
        "Types of an operator's outputs: [(dtype, dims)], dims -1 where unknown.");
  m.def("ops_json", [] { return fv_ops_json(); }, "All operator definitions.");
}

}  // namespace foveal::python
