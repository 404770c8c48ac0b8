// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/options.h>

#include <gtest/gtest.h>

namespace tightloop {
namespace {

const OptionSpec kSpecs[] = {{"size", OptionType::integer, {}, "rows", true},
                             {"rate", OptionType::number, 0.5},
                             {"bias", OptionType::boolean, true},
                             {"kind", OptionType::text, "plain"},
                             {"skip", OptionType::integer}};

std::string message(const Options& given) {
  try {
    resolve("thing", given, kSpecs);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Options, FillsDefaultsInOrderOfTheSpecs) {
  const Options o = resolve("thing", {{"rate", std::int64_t{2}}, {"size", std::int64_t{3}}}, kSpecs);
  EXPECT_EQ(o.at<std::int64_t>("size"), 3);
  EXPECT_EQ(o.at<double>("rate"), 2.0);
  EXPECT_TRUE(o.at<bool>("bias"));
  EXPECT_EQ(o.at<std::string>("kind"), "plain");
  EXPECT_FALSE(o.has("skip"));
  EXPECT_EQ(o.begin()->first, "size");
}

TEST(Options, RefusesWithTheNearestName) {
  EXPECT_EQ(message({{"size", std::int64_t{3}}, {"biass", true}}),
            "thing: unknown option 'biass' (did you mean 'bias'?); it takes size, rate, bias, kind, skip");
  EXPECT_EQ(message({}), "thing: 'size' is missing (a whole number)");
  EXPECT_EQ(message({{"size", 2.5}}), "thing: 'size' must be a whole number, not 2.5");
  EXPECT_EQ(message({{"size", std::int64_t{1}}, {"bias", std::string("no")}}),
            "thing: 'bias' must be true or false, not 'no'");
  EXPECT_EQ(message({{"size", OptionValue{}}}), "thing: 'size' must be a whole number, not none");
}

TEST(Options, NamesPositionalArguments) {
  const OptionValue positional[] = {std::int64_t{4}, 0.25};
  const Options o = name_arguments("thing", positional, {{"bias", false}}, kSpecs);
  EXPECT_EQ(o, (Options{{"size", std::int64_t{4}}, {"rate", 0.25}, {"bias", false}}));
  EXPECT_THROW(name_arguments("thing", positional, {{"rate", 1.0}}, kSpecs), Error);
  const std::vector<OptionValue> many(6, OptionValue{1.0});
  EXPECT_THROW(name_arguments("thing", many, {}, kSpecs), Error);
}

TEST(Options, SizesAreANumberOrAList) {
  const OptionSpec sizes[] = {{"size", OptionType::sizes, Numbers{1}}};
  OptionSpec worded[] = {{"size", OptionType::sizes, Numbers{1}}};
  worded[0].or_text = true;
  const auto value = [](const OptionValue& given, std::span<const OptionSpec> specs) {
    return *resolve("thing", {{"size", given}}, specs).find("size");
  };
  EXPECT_EQ(value(std::int64_t{3}, sizes), OptionValue(Numbers{3}));
  EXPECT_EQ(value(Numbers{3, 2}, sizes), OptionValue(Numbers{3, 2}));
  EXPECT_THROW(value(Numbers{3, 2.5}, sizes), Error);
  EXPECT_THROW(value(1.0, sizes), Error);
  EXPECT_THROW(value(std::string("same"), sizes), Error);
  EXPECT_EQ(value(std::string("same"), worded), OptionValue(std::string("same")));
}

}  // namespace
}  // namespace tightloop
