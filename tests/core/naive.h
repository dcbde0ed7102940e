// The obviously correct executor: float32, plain layout, one element at a time. Movement operators
// are written as index formulas, not by way of raster, so that lowering is tested against them.
#ifndef FOVEAL_TESTS_CORE_NAIVE_H_
#define FOVEAL_TESTS_CORE_NAIVE_H_

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "graph/graph.h"
#include "ops/concat.h"
#include "ops/depth_space.h"
#include "ops/gather.h"
#include "ops/norm.h"
#include "ops/pad.h"
#include "ops/raster.h"
#include "ops/reduce.h"
#include "ops/slice.h"
#include "ops/softmax.h"
#include "ops/split.h"
#include "ops/tile.h"
#include "ops/transpose.h"

namespace foveal::test {

struct Tensor {
  Dims dims;
  std::vector<float> data;
  Tensor() = default;
  explicit Tensor(Dims d) : dims(std::move(d)), data(static_cast<size_t>(element_count(dims))) {}
};

inline int64_t address(const Dims& dims, const Ints& index) {
  int64_t a = 0;
  for (size_t i = 0; i < dims.size(); ++i) a = a * dims[i] + index[i];
  return a;
}

// f(index) for every element, in row-major order.
template <class F>
void each_index(const Dims& dims, const F& f) {
  const int64_t n = element_count(dims);
  for (int64_t flat = 0; flat < n; ++flat) {
    Ints index(dims.size());
    int64_t rest = flat;
    for (size_t i = dims.size(); i-- > 0;) {
      index[i] = rest % dims[i];
      rest /= dims[i];
    }
    f(index);
  }
}

template <class Op>
Op read_attrs(const Node& n) {
  Op op;
  AttrReader reader{n.attrs};
  op.fields(reader);
  return op;
}

// Element of x at `index` of a larger shape it broadcasts to.
inline float broadcast_at(const Tensor& x, const Ints& index) {
  Ints own(x.dims.size());
  const size_t skip = index.size() - own.size();
  for (size_t i = 0; i < own.size(); ++i) own[i] = x.dims[i] == 1 ? 0 : index[skip + i];
  return x.data[static_cast<size_t>(address(x.dims, own))];
}

class Naive {
 public:
  Naive(const Graph& g, const std::vector<Tensor>& inputs) : g_(g) {
    for (size_t i = 0; i < g.inputs.size(); ++i) values_[g.inputs[i]] = inputs[i];
    for (size_t v = 0; v < g.values.size(); ++v) {
      const Value& value = g.values[v];
      if (!value.is_constant() || value.type.dtype != FV_FLOAT32) continue;
      Tensor t(value.type.dims);
      if (!t.data.empty()) std::memcpy(t.data.data(), value.constant.data, value.constant.bytes);
      values_[static_cast<int>(v)] = std::move(t);
    }
    for (const Node& n : g.nodes) run(n);
  }
  std::vector<Tensor> outputs() const {
    std::vector<Tensor> out;
    for (int v : g_.outputs) out.push_back(values_.at(v));
    return out;
  }
  std::vector<std::string> unknown;  // operators this executor lacks

 private:
  const Tensor& in(const Node& n, size_t i) { return values_.at(n.inputs[i]); }
  Tensor blank(const Node& n, size_t i = 0) { return Tensor(g_.type(n.outputs[i]).dims); }

  template <class F>
  void pointwise(const Node& n, const F& f) {
    Tensor y = blank(n);
    size_t at = 0;
    each_index(y.dims, [&](const Ints& index) {
      const float a = broadcast_at(in(n, 0), index);
      const float b = n.inputs.size() > 1 ? broadcast_at(in(n, 1), index) : 0;
      y.data[at++] = f(a, b);
    });
    values_[n.outputs[0]] = std::move(y);
  }

  // y[index] = x[source(index)], or `hole` where source returns an empty index.
  template <class F>
  void move(const Node& n, size_t output, const F& source, float hole = 0) {
    Tensor y = blank(n, output);
    size_t at = 0;
    each_index(y.dims, [&](const Ints& index) {
      const Ints from = source(index);
      const Tensor& x = in(n, 0);
      y.data[at++] = from.empty() && !x.dims.empty()
                         ? hole
                         : x.data[static_cast<size_t>(address(x.dims, from))];
    });
    values_[n.outputs[output]] = std::move(y);
  }

  template <class F, class G>
  void reduce(const Node& n, double first, const F& step, const G& last) {
    const auto op = read_attrs<ops::Reduce>(n);
    const Tensor& x = in(n, 0);
    const auto mask = op.mask(static_cast<int>(x.dims.size())).take();
    Tensor y = blank(n);
    std::vector<double> acc(y.data.size(), first);
    double count = 1;
    for (size_t i = 0; i < mask.size(); ++i) count *= mask[i] ? static_cast<double>(x.dims[i]) : 1;
    each_index(x.dims, [&](const Ints& index) {
      Ints to;
      for (size_t i = 0; i < index.size(); ++i) {
        if (!mask[i])
          to.push_back(index[i]);
        else if (op.keepdims)
          to.push_back(0);
      }
      double& a = acc[static_cast<size_t>(address(y.dims, to))];
      a = step(a, static_cast<double>(x.data[static_cast<size_t>(address(x.dims, index))]));
    });
    for (size_t i = 0; i < acc.size(); ++i) y.data[i] = static_cast<float>(last(acc[i], count));
    values_[n.outputs[0]] = std::move(y);
  }

  void run(const Node& n);
  void run_raster(const Node& n);
  bool run_movement(const Node& n);
  bool run_arithmetic(const Node& n);

  const Graph& g_;
  std::map<int, Tensor> values_;
};

inline void Naive::run_raster(const Node& n) {
  const auto op = read_attrs<ops::Raster>(n);
  Tensor y = blank(n);
  for (float& v : y.data) v = static_cast<float>(op.fill);
  for (const ops::Region& r : op.all())
    each_index(r.size, [&](const Ints& index) {
      int64_t src = r.src_offset, dst = r.dst_offset;
      for (size_t i = 0; i < index.size(); ++i) {
        src += index[i] * r.src_stride[i];
        dst += index[i] * r.dst_stride[i];
      }
      y.data.at(static_cast<size_t>(dst)) =
          in(n, static_cast<size_t>(r.input)).data.at(static_cast<size_t>(src));
    });
  values_[n.outputs[0]] = std::move(y);
}

inline bool Naive::run_movement(const Node& n) {
  const Dims x = in(n, 0).dims;
  const size_t rank = x.size();
  if (n.op == "transpose") {
    const Ints perm = read_attrs<ops::Transpose>(n).resolved(static_cast<int>(rank)).take();
    move(n, 0, [&](const Ints& index) {
      Ints from(rank);
      for (size_t i = 0; i < rank; ++i) from[static_cast<size_t>(perm[i])] = index[i];
      return from;
    });
  } else if (n.op == "slice") {
    const auto op = read_attrs<ops::Slice>(n);
    move(n, 0, [&](const Ints& index) {
      Ints from = index;
      for (size_t i = 0; i < op.axes.size(); ++i) {
        const auto a = static_cast<size_t>(op.axes[i] < 0 ? op.axes[i] + static_cast<int64_t>(rank)
                                                          : op.axes[i]);
        int64_t b = op.begin[i] < 0 ? op.begin[i] + x[a] : op.begin[i];
        b = std::max<int64_t>(b, 0);
        b = std::min(b, op.step[i] < 0 ? x[a] - 1 : x[a]);
        from[a] = b + index[a] * op.step[i];
      }
      return from;
    });
  } else if (n.op == "pad") {
    const auto op = read_attrs<ops::Pad>(n);
    move(
        n, 0,
        [&](const Ints& index) {
          Ints from = index;
          for (size_t i = 0; i < rank; ++i) {
            const int64_t low = std::max<int64_t>(-op.pads[i], 0);
            const int64_t high = x[i] - 1 - std::max<int64_t>(-op.pads[rank + i], 0);
            int64_t& v = from[i];
            v -= op.pads[i];
            if (v >= low && v <= high) continue;
            if (op.mode == "constant") return Ints{};
            if (op.mode == "edge")
              v = v < low ? low : high;
            else
              v = v < low ? 2 * low - v : 2 * high - v;
          }
          return from;
        },
        static_cast<float>(op.value));
  } else if (n.op == "expand") {
    move(n, 0, [&](const Ints& index) {
      Ints from(index.end() - static_cast<int64_t>(rank), index.end());
      for (size_t i = 0; i < rank; ++i)
        if (x[i] == 1) from[i] = 0;
      return from;
    });
  } else if (n.op == "tile") {
    move(n, 0, [&](const Ints& index) {
      Ints from = index;
      for (size_t i = 0; i < rank; ++i) from[i] %= x[i];
      return from;
    });
  } else if (n.op == "depth_to_space") {
    const auto op = read_attrs<ops::DepthToSpace>(n);
    const int64_t b = op.block, c = x[1] / (b * b);
    move(n, 0, [&](const Ints& i) {
      const int64_t row = i[2] % b, column = i[3] % b;
      const int64_t channel =
          op.mode == "dcr" ? (row * b + column) * c + i[1] : (i[1] * b + row) * b + column;
      return Ints{i[0], channel, i[2] / b, i[3] / b};
    });
  } else if (n.op == "space_to_depth") {
    const int64_t b = read_attrs<ops::SpaceToDepth>(n).block, c = x[1];
    move(n, 0, [&](const Ints& i) {
      const int64_t square = i[1] / c;
      return Ints{i[0], i[1] % c, i[2] * b + square / b, i[3] * b + square % b};
    });
  } else if (n.op == "split") {
    const auto op = read_attrs<ops::Split>(n);
    const auto a =
        static_cast<size_t>(op.axis < 0 ? op.axis + static_cast<int64_t>(rank) : op.axis);
    int64_t offset = 0;
    for (size_t k = 0; k < n.outputs.size(); ++k) {
      move(n, k, [&](Ints index) {
        index[a] += offset;
        return index;
      });
      offset += op.sizes[k];
    }
  } else if (n.op == "concat") {
    const auto op = read_attrs<ops::Concat>(n);
    const auto a =
        static_cast<size_t>(op.axis < 0 ? op.axis + static_cast<int64_t>(rank) : op.axis);
    Tensor y = blank(n);
    int64_t offset = 0;
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      const Tensor& part = in(n, k);
      each_index(part.dims, [&](Ints index) {
        const float v = part.data[static_cast<size_t>(address(part.dims, index))];
        index[a] += offset;
        y.data[static_cast<size_t>(address(y.dims, index))] = v;
      });
      offset += part.dims[a];
    }
    values_[n.outputs[0]] = std::move(y);
  } else if (n.op == "gather") {
    const auto op = read_attrs<ops::Gather>(n);
    const auto a =
        static_cast<size_t>(op.axis < 0 ? op.axis + static_cast<int64_t>(rank) : op.axis);
    const Value& indices = g_.value(n.inputs[1]);
    const auto* list = static_cast<const int64_t*>(indices.constant.data);
    move(n, 0, [&](const Ints& index) {
      const auto begin = index.begin() + static_cast<int64_t>(a);
      const Ints which(begin, begin + indices.type.rank());
      int64_t v = list[address(indices.type.dims, which)];
      Ints from(index.begin(), begin);
      from.push_back(v < 0 ? v + x[a] : v);
      from.insert(from.end(), begin + indices.type.rank(), index.end());
      return from;
    });
  } else if (n.op == "reshape" || n.op == "squeeze" || n.op == "unsqueeze" || n.op == "flatten") {
    Tensor y = in(n, 0);
    y.dims = g_.type(n.outputs[0]).dims;
    values_[n.outputs[0]] = std::move(y);
  } else {
    return false;
  }
  return true;
}

inline bool Naive::run_arithmetic(const Node& n) {
  const std::string& op = n.op;
  if (op == "add")
    pointwise(n, [](float a, float b) { return a + b; });
  else if (op == "sub")
    pointwise(n, [](float a, float b) { return a - b; });
  else if (op == "mul")
    pointwise(n, [](float a, float b) { return a * b; });
  else if (op == "div")
    pointwise(n, [](float a, float b) { return a / b; });
  else if (op == "max")
    pointwise(n, [](float a, float b) { return a > b ? a : b; });
  else if (op == "relu")
    pointwise(n, [](float a, float) { return a > 0 ? a : 0; });
  else if (op == "neg")
    pointwise(n, [](float a, float) { return -a; });
  else if (op == "exp")
    pointwise(n, [](float a, float) { return std::exp(a); });
  else if (op == "log")
    pointwise(n, [](float a, float) { return std::log(a); });
  else if (op == "sqrt")
    pointwise(n, [](float a, float) { return std::sqrt(a); });
  else if (op == "square")
    pointwise(n, [](float a, float) { return a * a; });
  else if (op == "reduce_mean")
    reduce(
        n, 0, [](double s, double a) { return s + a; }, [](double s, double c) { return s / c; });
  else if (op == "reduce_sum")
    reduce(n, 0, [](double s, double a) { return s + a; }, [](double s, double) { return s; });
  else if (op == "reduce_sum_square")
    reduce(n, 0, [](double s, double a) { return s + a * a; }, [](double s, double) { return s; });
  else if (op == "reduce_max")
    reduce(
        n, -INFINITY, [](double s, double a) { return s > a ? s : a; },
        [](double s, double) { return s; });
  else
    return false;
  return true;
}

inline void Naive::run(const Node& n) {
  if (!n.posts.empty()) {  // one after the other, through values that a backend never stores
    Node base = n;
    base.posts.clear();
    base.post_inputs = 0;
    base.inputs.resize(static_cast<size_t>(n.own_inputs()));
    const Post& first = n.posts[0];
    base.outputs = {first.node.inputs[static_cast<size_t>(first.chain_input)]};
    run(base);
    for (const Post& p : n.posts) run(p.node);
    return;
  }
  if (n.op == "raster") return run_raster(n);
  if (!run_movement(n) && !run_arithmetic(n)) unknown.push_back(n.op);
}

}  // namespace foveal::test
#endif  // FOVEAL_TESTS_CORE_NAIVE_H_
