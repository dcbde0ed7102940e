// Merging of rasters: bit-equal to the unmerged graph on random chains, and the cases that must
// disappear do.
#include "graph/raster.h"

#include "check.h"
#include "graph/decompose.h"
#include "graph/verify.h"
#include "random.h"

using namespace foveal;
using namespace foveal::test;

namespace {

bool primitive(const Graph& g, int node) {
  return !op_table().find(g.nodes[static_cast<size_t>(node)].op)->decompose;
}

int count(const Graph& g, const std::string& op) {
  int n = 0;
  for (const Node& node : g.nodes) n += node.op == op;
  return n;
}

Graph simplified(const Graph& g) {
  Graph out = g;
  CHECK_OK(decompose(out, primitive));
  simplify_rasters(out);
  CHECK_OK(verify(out));
  return out;
}

void test_random_chains() {
  Random r(3);
  int before = 0, after = 0;
  for (int round = 0; round < 1500; ++round) {
    Graph g;
    const Dims shapes[] = {{2, 4, 6, 4}, {1, 8, 2, 2}, {3, 4, 5}, {12}};
    const int x = g.add_value("x", {FV_FLOAT32, shapes[r.in(0, 3)]});
    g.inputs = {x};
    std::vector<int> ends{x};
    for (int64_t step = r.in(2, 6); step > 0; --step) {
      const int from = ends[static_cast<size_t>(r.in(0, static_cast<int64_t>(ends.size()) - 1))];
      if (element_count(g.type(from).dims) > 2000) continue;
      const auto made = append_movement(g, r, from);
      if (made.empty()) continue;
      if (r.in(0, 4)) ends.clear();
      ends.insert(ends.end(), made.begin(), made.end());
    }
    g.outputs = ends;
    Graph lowered = g;
    if (!CHECK_OK(decompose(lowered, primitive))) continue;
    const Graph merged = simplified(g);
    before += count(lowered, "raster");
    after += count(merged, "raster");
    const std::vector<Tensor> input{r.tensor(g.type(x).dims)};
    if (!CHECK(same(Naive(merged, input).outputs(), Naive(g, input).outputs()))) {
      std::fprintf(stderr, "  round %d:", round);
      for (const Node& n : g.nodes) std::fprintf(stderr, " %s", n.op.c_str());
      std::fprintf(stderr, " of %s\n", to_string(g.type(x).dims).c_str());
    }
  }
  std::printf("random chains: %d rasters merged to %d\n", before, after);
  CHECK(after * 10 < before * 9);
}

struct Chain {
  Graph g;
  int last;
  explicit Chain(Dims dims) {
    last = g.add_value("x", {FV_FLOAT32, std::move(dims)});
    g.inputs = {last};
  }
  Chain& then(const std::string& op, Attrs attrs) {
    last = append(g, op, {last}, std::move(attrs))[0];
    g.outputs = {last};
    return *this;
  }
  // Operators left, separated by blanks; values must be right too.
  std::string left() {
    const Graph out = simplified(g);
    Random r(5);
    const std::vector<Tensor> input{r.tensor(g.type(g.inputs[0]).dims)};
    CHECK(same(Naive(out, input).outputs(), Naive(g, input).outputs()));
    std::string s;
    for (const Node& n : out.nodes) s += (s.empty() ? "" : " ") + n.op;
    return s;
  }
};

Attrs perm(Ints p) { return {{"perm", std::move(p)}}; }

void test_what_disappears() {
  const Ints nhwc{0, 2, 3, 1}, nchw{0, 3, 1, 2};
  CHECK_EQ(Chain({2, 3, 4, 5}).then("transpose", perm(nhwc)).then("transpose", perm(nchw)).left(),
           "reshape");
  CHECK_EQ(Chain({2, 1, 4, 1}).then("transpose", perm(nhwc)).left(), "reshape");
  CHECK_EQ(Chain({2, 3, 4, 5})
               .then("transpose", perm(nhwc))
               .then("reshape", {{"shape", Ints{2, -1, 3}}})
               .then("transpose", perm({0, 2, 1}))
               .left(),
           "reshape");
  CHECK_EQ(Chain({2, 3, 4, 5})
               .then("pad", {{"pads", Ints{0, 0, 1, 1, 0, 0, 1, 1}}})
               .then("slice", {{"axes", Ints{2, 3}},
                               {"begin", Ints{1, 1}},
                               {"end", Ints{5, 6}},
                               {"step", Ints{1, 1}}})
               .left(),
           "reshape");
  // What keeps padding after the cut still fills.
  CHECK_EQ(Chain({2, 3, 4, 5})
               .then("pad", {{"pads", Ints{0, 0, 1, 1, 0, 0, 1, 1}}, {"value", 2.5}})
               .then("transpose", perm(nhwc))
               .left(),
           "raster");
  CHECK_EQ(Chain({1, 4, 2, 2}).then("depth_to_space", {}).then("space_to_depth", {}).left(),
           "reshape");
  CHECK_EQ(Chain({2, 3}).then("unsqueeze", {{"axes", Ints{0}}}).then("flatten", {}).left(),
           "reshape");
  CHECK_EQ(Chain({2, 6})
               .then("expand", {{"shape", Ints{3, 1, 1}}})
               .then("transpose", perm({2, 0, 1}))
               .left(),
           "raster");
}

// concat of slices that puts the tensor together again.
void test_split_and_concat() {
  Graph g;
  const int x = g.add_value("x", {FV_FLOAT32, {2, 6, 3}});
  g.inputs = {x};
  const auto parts = append(g, "split", {x}, {{"axis", int64_t{1}}, {"sizes", Ints{2, 1, 3}}}, 3);
  g.outputs = append(g, "concat", parts, {{"axis", int64_t{1}}});
  const Graph out = simplified(g);
  Random r(9);
  const std::vector<Tensor> input{r.tensor({2, 6, 3})};
  CHECK(same(Naive(out, input).outputs(), Naive(g, input).outputs()));
  CHECK_EQ(out.nodes.size(), size_t{1});
}

// A tensor that somebody else reads is made as before.
void test_shared_stays() {
  Graph g;
  const int x = g.add_value("x", {FV_FLOAT32, {2, 3}});
  g.inputs = {x};
  const int t = append(g, "transpose", {x})[0];
  const int e = append(g, "neg", {t})[0];
  const int u = append(g, "transpose", {t})[0];
  g.outputs = {e, u};
  const Graph out = simplified(g);
  CHECK_EQ(count(out, "raster"), 2);
  Random r(11);
  const std::vector<Tensor> input{r.tensor({2, 3})};
  CHECK(same(Naive(out, input).outputs(), Naive(g, input).outputs()));
}

// normalise keeps the set of copies and orders them.
void test_normalise() {
  ops::Region r{0, 3, 5, {2, 1, 3, 4}, {12, 99, 4, 1}, {12, 99, 4, 1}};
  ops::normalise(r);
  CHECK_EQ(r.size, Ints{24});
  CHECK_EQ(r.src_stride, Ints{1});
  ops::Region t{0, 0, 0, {4, 3}, {1, 4}, {1, 8}};
  ops::normalise(t);
  CHECK_EQ(t.size, (Ints{3, 4}));
  CHECK_EQ(t.dst_stride, (Ints{8, 1}));
  ops::Region one{0, 0, 0, {1, 1}, {7, 7}, {7, 7}};
  ops::normalise(one);
  CHECK_EQ(one.size, Ints{1});
}

// Files may say anything of regions that copy nothing, or that read from unknown shapes: nothing
// overflows (UBSan), and what is no run in memory is not joined.
void test_normalise_numbers_without_bounds() {
  constexpr int64_t kMost = INT64_MAX, kLeast = INT64_MIN, kBig = int64_t{1} << 40;
  for (const int64_t big : {kMost, kLeast, kBig, -kBig}) {
    ops::Region empty{0, big, big, {kBig, 0, kBig, 3}, {big, big, 1, big}, {big, 1, big, big}};
    ops::normalise(empty);
    CHECK(empty.count() == 0 && empty.size == Ints({0}));
    ops::Region r{0, big, 0, {3, 2, 5}, {big, big, 1}, {10, 5, 1}};
    ops::normalise(r);
    CHECK(r.count() == 30 && r.src_stride.back() == 1);
    CHECK(r.size.size() == 3);
  }
}

}  // namespace

int main() {
  test_normalise_numbers_without_bounds();
  test_random_chains();
  test_what_disappears();
  test_split_and_concat();
  test_shared_stays();
  test_normalise();
  return CHECK_RESULT();
}
