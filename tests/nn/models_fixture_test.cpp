// SPDX-License-Identifier: Apache-2.0
// Narrow image models against torchvision: outputs and all gradients in evaluation and in training, and the
// buffers after the step. tests/fixtures/make_model_fixtures.py says what the file holds.
#include <tests/support/cases.h>
#include <tests/support/evaluate.h>
#include <tightloop/engine/compile.h>
#include <tightloop/engine/gradients.h>
#include <tightloop/nn/context.h>
#include <tightloop/nn/models/model.h>

#include <algorithm>
#include <set>

namespace tightloop::nn {
namespace {

using testing::Case;

constexpr std::uint32_t kX = 1000, kUpstream = 1001;  // streams of noise()

/// The script's numbers in [-1, 1): a hash of the index.
double noise(std::uint32_t stream, std::int64_t i) {
  std::uint32_t h = static_cast<std::uint32_t>(i + 1) * 2654435761U + stream * 40503U;
  h = (h ^ h >> 15) * 2246822519U;
  h = (h ^ h >> 15) * 3266489917U;
  return static_cast<double>(h ^ h >> 16) / 2147483648.0 - 1;
}

Array noise(std::uint32_t stream, double scale, std::vector<std::int64_t> dims) {
  Array a(DType::f32, std::move(dims));
  for (std::int64_t i = 0; i < a.count(); ++i) a.set(i, scale * noise(stream, i));
  return a;
}

/// The script's value of state `stream` of a model.
Array drawn(std::uint32_t stream, const NamedState& state) {
  Array a(state.type().dtype, state.type().shape.values({}));
  double middle = 0, scale = 0.2;
  if (a.dtype() == DType::i64) {
    middle = 3, scale = 0;
  } else if (a.rank() > 1) {
    scale = std::sqrt(6.0 * static_cast<double>(a.dims()[0]) / static_cast<double>(a.count()));
  } else if (state.path.ends_with(".weight") || state.path.ends_with(".running_var")) {
    middle = 1, scale = 0.3;
  } else if (state.path.ends_with(".bias")) {
    middle = 2;
  }
  for (std::int64_t i = 0; i < a.count(); ++i) a.set(i, middle + scale * noise(stream, i));
  return a;
}

/// Takes the elements that the script kept of a tensor from the front of `wanted`: each within `bound` of the
/// tensor's largest, or of a hundredth of the largest of all, as some are 0 but for rounding.
class Thinned {
 public:
  Thinned(const Array& wanted, std::int64_t most, double bound)
      : wanted_(wanted), most_(most), bound_(bound), least_(0.01 * largest(0, wanted.count())) {}

  void expect(const std::string& what, const Array& got) {
    const std::int64_t step = (got.count() + most_ - 1) / most_, from = next_;
    next_ += (got.count() + step - 1) / step;
    ASSERT_LE(next_, wanted_.count()) << what;
    const double off = bound_ * std::max(least_, largest(from, next_));
    for (std::int64_t i = from; i < next_; ++i)
      ASSERT_NEAR(got.at((i - from) * step), wanted_.at(i), off) << what << " element " << (i - from) * step;
  }
  void expect_end() const { EXPECT_EQ(next_, wanted_.count()); }

 private:
  double largest(std::int64_t from, std::int64_t to) const {
    double out = 0;
    for (std::int64_t i = from; i < to; ++i) out = std::max(out, std::abs(wanted_.at(i)));
    return out;
  }

  const Array& wanted_;
  std::int64_t most_, next_ = 0;
  double bound_, least_;
};

class ModelFixtures : public ::testing::TestWithParam<CompileOptions> {
 protected:
  static void check(const Case& c, Layer& model, const std::string& mode) {
    SCOPED_TRACE(mode);
    const auto parameters = model.parameters();
    auto step = compile(
        [&](const Tensor& in, const Tensor& upstream) {
          Context context(mode == "train");
          std::vector<Tensor> wrt{in}, out{model(in)};
          for (const auto& p : parameters) wrt.push_back(p.parameter->value());
          for (const Tensor& g : gradients(sum(out[0] * upstream), wrt)) out.push_back(g);
          return out;
        },
        {.batch = true, .compile = GetParam()});
    const Array& y = c.at(mode + ".y");
    const auto got = step(Tensor(images(c)), Tensor(noise(kUpstream, 1, y.dims())));
    const double bound = 3e-4;  // many layers of f32 against f64
    Thinned(y, y.count(), bound).expect("y", got[0].array());
    Thinned(c.at(mode + ".x"), 400, bound).expect("x", got[1].array());
    Thinned of_parameters(c.at(mode + ".parameters"), 24, bound);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      of_parameters.expect(parameters[i].path, got.at(i + 2).array());
    of_parameters.expect_end();
  }
  static Array images(const Case& c) {
    std::vector<std::int64_t> dims;
    for (std::int64_t i = 0; i < c.at("shape").count(); ++i) dims.push_back(c.at("shape").int_at(i));
    return noise(kX, 1.5, dims);
  }
};

TEST_P(ModelFixtures, AgreeWithTorchvision) {
  std::set<std::string> seen;
  for (const Case& c : testing::read_cases("models")) {
    SCOPED_TRACE(c.text);
    seen.insert(c.name);
    const LayerDef& def = *find_layer_or_model(c.name);
    const auto model =
        def.build(resolve(c.name, c.options, def.options), testing::type_of({images(c), true}));
    std::uint32_t stream = 0;
    for (const auto& s : model->state_dict()) s.assign(drawn(stream++, s));
    check(c, *model, "eval");
    check(c, *model, "train");
    if (HasFatalFailure()) return;
    if (c.find("buffers") == nullptr) continue;
    Thinned buffers(c.at("buffers"), 8, 1e-4);
    for (const auto& b : model->buffers()) buffers.expect(b.path, b.buffer->array());
    buffers.expect_end();
  }
  EXPECT_EQ(seen, (std::set<std::string>{"resnet18", "resnet50", "vgg11", "vgg16_bn", "mobilenet_v2",
                                         "autoencoder"}));
}

INSTANTIATE_TEST_SUITE_P(Backends, ModelFixtures, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace tightloop::nn
