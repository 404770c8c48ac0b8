// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/train/fingerprint.h>

namespace tightloop::train {
namespace {

data::Dataset rows(DType dtype = DType::f32, std::int64_t n = 6) {
  Array x(dtype, {n, 2}), y(DType::f32, {n, 1});
  for (std::int64_t i = 0; i < 2 * n; ++i) x.set(i, static_cast<double>(i % 97));
  return data::Dataset({{"x", x}, {"y", y}});
}

std::string difference(const TrainingData& before, const TrainingData& now) {
  return fingerprint_difference(fingerprint(before), fingerprint(now));
}

TEST(Fingerprint, SaysWhatHasChanged) {
  const TrainingData data{.train = DataPart{rows()}};
  EXPECT_EQ(difference(data, {.train = DataPart{rows()}}), "");
  data::Dataset other = rows();
  Array x = other["x"].clone();
  x.set(7, 100);
  EXPECT_EQ(difference(data, {.train = DataPart{data::Dataset({{"x", x}, {"y", other["y"]}})}}),
            "field 'x' of the training data has changed");
  EXPECT_EQ(difference(data, {.train = DataPart{rows(DType::f64)}}),
            "field 'x' of the training data: f64[6, 2] instead of f32[6, 2]");
  EXPECT_EQ(difference(data, {.train = DataPart{data::Dataset({{"z", x}, {"y", other["y"]}})}}),
            "field 'z' of the training data is new; field 'x' of the training data is gone");
  TrainingData chosen{.train = DataPart{rows()}};
  chosen.train.rows = {0, 1, 2, 3, 4, 5};
  TrainingData turned = chosen;
  std::swap(turned.train.rows[0], turned.train.rows[5]);
  EXPECT_EQ(difference(chosen, turned), "the choice of rows of the training data has changed");
  const TrainingData validated{.train = DataPart{rows()}, .validation = DataPart{rows()}};
  EXPECT_NE(difference(validated, data).find("of the validation data is gone"), std::string::npos);
}

/// Of 32 MiB the first, the last and evenly spread stretches count.
TEST(Fingerprint, OfLargeDataIsSampled) {
  const TrainingData data{.train = DataPart{rows(DType::f32, std::int64_t{1} << 22)}};
  const std::string before = fingerprint(data);
  Array x = data.train.data["x"];
  for (const std::int64_t at : {std::int64_t{0}, x.count() - 1}) {
    const double value = x.at(at);
    x.set(at, value + 1);
    EXPECT_NE(fingerprint(data), before);
    x.set(at, value);
  }
  EXPECT_EQ(fingerprint(data), before);
}

}  // namespace
}  // namespace tightloop::train
