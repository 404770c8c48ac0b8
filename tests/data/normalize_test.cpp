// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/data/normalize.h>

#include <cmath>
#include <limits>

namespace tightloop::data {
namespace {

Field sample(DType dtype = DType::f32) {
  return {"x", Array::of<double>({4, 3}, {1, 7, 0, 2, 7, 10, 3, 7, 20, 4, 7, 30}).cast(dtype)};
}

TEST(Normalize, Standard) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::u8}) {
    const FieldScale s = field_scale(sample(dtype), Normalization::standard);
    EXPECT_EQ(s.shift.type_string(), dtype == DType::f64 ? "f64[3]" : "f32[3]");
    EXPECT_EQ(s.shift.at(0), 2.5);
    EXPECT_EQ(s.shift.at(1), 7);
    EXPECT_EQ(s.shift.at(2), 15);
    EXPECT_NEAR(s.scale.at(0), std::sqrt(1.25), 1e-7);
    EXPECT_EQ(s.scale.at(1), 1);
    EXPECT_NEAR(s.scale.at(2), std::sqrt(125.0), 1e-6);
  }
}

TEST(Normalize, Minmax) {
  const FieldScale s = field_scale(sample(), Normalization::minmax);
  EXPECT_TRUE(identical(s.shift, Array::of<float>({3}, {1, 7, 0})));
  EXPECT_TRUE(identical(s.scale, Array::of<float>({3}, {3, 1, 30})));
  const Array n = normalized(sample().values, s);
  EXPECT_TRUE(
      identical(n, Array::of<float>({4, 3}, {0, 0, 0, 1 / 3.f, 0, 1 / 3.f, 2 / 3.f, 0, 2 / 3.f, 1, 0, 1})));
}

TEST(Normalize, StatisticsComeFromTheGivenRowsOnly) {
  const std::vector<std::int64_t> rows{0, 1};
  const FieldScale s = field_scale(sample(), Normalization::standard, rows);
  EXPECT_TRUE(identical(s.shift, Array::of<float>({3}, {1.5, 7, 5})));
  EXPECT_TRUE(identical(s.scale, Array::of<float>({3}, {0.5, 1, 5})));
  EXPECT_ERROR(field_scale(sample(), Normalization::standard, std::vector<std::int64_t>{4}),
               "row 4 of 4 rows");
}

TEST(Normalize, ConstantsAndLargeOffsetsAreExact) {
  const Array constant = Array::of<double>({3, 1}, {0.1, 0.1, 0.1});
  const FieldScale c = field_scale({"c", constant}, Normalization::standard);
  EXPECT_EQ(c.shift.at(0), 0.1);
  EXPECT_EQ(c.scale.at(0), 1);
  const Array offset = Array::of<double>({4}, {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16});
  EXPECT_NEAR(field_scale({"o", offset}, Normalization::standard).scale.at(0), std::sqrt(22.5), 1e-9);
}

TEST(Normalize, NormalizedColumnsHaveMeanZeroAndDeviationOne) {
  const FieldScale s = field_scale(sample(DType::f64), Normalization::standard);
  const Array n = normalized(sample(DType::f64).values, s);
  for (std::int64_t j : {0, 2}) {
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < 4; ++i) sum += n.at(3 * i + j), squares += n.at(3 * i + j) * n.at(3 * i + j);
    EXPECT_NEAR(sum, 0, 1e-12);
    EXPECT_NEAR(squares / 4, 1, 1e-12);
  }
}

TEST(Normalize, KeepsTheFeaturesShape) {
  const FieldScale s = field_scale({"i", Array(DType::u8, {5, 2, 3})}, Normalization::minmax);
  EXPECT_EQ(s.shift.type_string(), "f32[2, 3]");
  EXPECT_EQ(field_scale({"v", Array(DType::f32, {5})}, Normalization::standard).shift.type_string(), "f32[]");
  EXPECT_ERROR(normalized(Array(DType::u8, {5, 3, 2}), s), "does not have the features f32[2, 3]");
}

TEST(Normalize, RefusesWhatIsNotFinite) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Array a(DType::f32, {3, 2});
    a.set(3, bad);
    EXPECT_ERROR(field_scale({"x", a}, Normalization::minmax), "field 'x', row 1, feature 1 is");
  }
  EXPECT_ERROR(field_scale({"y", Array(DType::i64, {3})}, Normalization::standard),
               "floats and u8 can be normalised");
}

TEST(Normalize, FitsOnlyFieldsThatAreNumbers) {
  const Dataset data({sample(), {"id", Array(DType::i64, {4})}});
  EXPECT_EQ(fit_normalization(data, {"x", "id"}, Normalization::standard).size(), 1u);
  EXPECT_TRUE(fit_normalization(data, {"x"}, Normalization::none).empty());
  EXPECT_ERROR(fit_normalization(data, {"z"}, Normalization::minmax), "no field 'z'");
}

TEST(Normalize, ComesBackFromTensors) {
  const std::vector<FieldScale> scales{field_scale(sample(), Normalization::standard),
                                       field_scale({"a.b", Array(DType::f64, {2})}, Normalization::minmax)};
  auto tensors = to_tensors(scales);
  const auto back = from_tensors(tensors);
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[1].field, "a.b");
  EXPECT_TRUE(identical(back[0].shift, scales[0].shift));
  EXPECT_TRUE(identical(back[0].scale, scales[0].scale));
  tensors[1].second = Array(DType::f32, {3});
  EXPECT_ERROR(from_tensors(tensors), "normalisation of 'x': feature 0 has the shift 2.5");
  tensors[1].second = Array(DType::f32, {2});
  EXPECT_ERROR(from_tensors(tensors), "shift is f32[3], scale is f32[2]");
  tensors.pop_back();
  EXPECT_ERROR(from_tensors(tensors), "'a.b.scale' is missing");
  EXPECT_ERROR(from_tensors({{"other", Array()}}), "unexpected tensor 'other'");
}

TEST(Normalize, Names) {
  for (const auto& [value, name] : kNormalizations) EXPECT_EQ(normalization_from_name(name), value);
  EXPECT_ERROR(normalization_from_name("standart"), "(did you mean 'standard'?)");
}

}  // namespace
}  // namespace tightloop::data
