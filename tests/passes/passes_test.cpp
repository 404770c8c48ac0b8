// SPDX-License-Identifier: Apache-2.0
// Each pass, text in, text out.
#include <gtest/gtest.h>
#include <tightloop/base/error.h>
#include <tightloop/ops/index.h>
#include <tightloop/passes/index.h>
#include <tightloop/passes/pipeline.h>

#include <set>

namespace tightloop {
namespace {

/// Inputs x, y: f32[B, 3], c: bool[B, 3], w: f32[3, 4], v: f32[4], s: f32[], i: i32[3]; those not used
/// vanish.
std::string graph(const std::string& body, const std::string& result) {
  return "graph g {\n"
         "  %0: f32[B, 3] = input() {name=\"x\", role=\"argument\"}\n"
         "  %1: f32[B, 3] = input() {name=\"y\", role=\"argument\"}\n"
         "  %2: bool[B, 3] = input() {name=\"c\", role=\"argument\"}\n"
         "  %3: f32[3, 4] = input() {name=\"w\", role=\"argument\"}\n"
         "  %4: f32[4] = input() {name=\"v\", role=\"argument\"}\n"
         "  %5: f32[] = input() {name=\"s\", role=\"argument\"}\n"
         "  %6: i32[3] = input() {name=\"i\", role=\"argument\"}\n" +
         body + "  return r=" + result + "\n}\n";
}

void becomes(const char* pass, const std::string& in, const std::string& in_result, const std::string& out,
             const std::string& out_result) {
  const ir::Pass* found = passes::find_pass(pass);
  ASSERT_NE(found, nullptr);
  const ir::Graph before = ir::parse(graph(in, in_result), ops::find_op);
  const ir::Graph wanted = ir::parse(graph(out, out_result), ops::find_op);
  const ir::Graph after = found->run(before);
  ir::verify(after);
  EXPECT_EQ(ir::print(after), ir::print(wanted)) << pass << " on\n" << ir::print(before);
}

void stays(const char* pass, const std::string& in, const std::string& result) {
  becomes(pass, in, result, in, result);
}

TEST(FoldConstants, EvaluatesElementwiseOpsOnce) {
  becomes("fold_constants",
          "  %7: f32[B, 3] = constant() {value=2}\n  %8: f32[B, 3] = constant() {value=0.5}\n"
          "  %9: f32[B, 3] = mul(%7, %8)\n  %10: f32[B, 3] = add(%0, %9)\n",
          "%10", "  %7: f32[B, 3] = constant() {value=1}\n  %8: f32[B, 3] = add(%0, %7)\n", "%8");
  becomes("fold_constants",
          "  %7: f32[3] = constant() {value=nan}\n  %8: f32[3] = constant() {value=0}\n  %9: bool[3] = "
          "eq(%7, %8)\n"
          "  %10: i64[3] = cast(%9)\n",
          "%10", "  %7: i64[3] = constant() {value=0}\n", "%7");
}

TEST(FoldConstants, AViewOfASplatIsASplat) {
  becomes("fold_constants",
          "  %7: f32[1, 3] = constant() {value=2}\n  %8: f32[B, 3] = broadcast(%7) {dims=[0, 1]}\n"
          "  %9: f32[3, B] = transpose(%8) {perm=[1, 0]}\n  %10: f32[3B] = reshape(%9)\n",
          "%10", "  %7: f32[3B] = constant() {value=2}\n", "%7");
  stays("fold_constants",
        "  %7: f32[3] = constant() {value=2}\n  %8: f32[4] = pad(%7) {low=[1], high=[0], value=0}\n", "%8");
}

TEST(FoldConstants, ReductionsOnlyWhereExact) {
  becomes("fold_constants", "  %7: f32[3] = constant() {value=0}\n  %8: f32[] = reduce_sum(%7) {axes=[0]}\n",
          "%8", "  %7: f32[] = constant() {value=0}\n", "%7");
  becomes("fold_constants", "  %7: f32[3] = constant() {value=7}\n  %8: f32[] = reduce_max(%7) {axes=[0]}\n",
          "%8", "  %7: f32[] = constant() {value=7}\n", "%7");
  stays("fold_constants", "  %7: f32[3] = constant() {value=0.1}\n  %8: f32[] = reduce_sum(%7) {axes=[0]}\n",
        "%8");
}

struct Identity {
  const char* op;
  const char* constant;  ///< value of %7, type of x
};

std::string convolved(const std::string& body, const std::string& result) {
  return "graph g {\n"
         "  %0: f32[B, 2, 9] = input() {name=\"x\", role=\"argument\"}\n"
         "  %1: f32[3, 2, 1] = input() {name=\"w\", role=\"state\"}\n"
         "  %2: f32[3] = input() {name=\"s\", role=\"state\"}\n" +
         body + "  return r=" + result + "\n}\n";
}

TEST(FoldScales, AScaleOfChannelsIsOneOfTheWeight) {
  const std::string attrs = " {stride=[1], low=[0], high=[0], dilation=[1]}\n";
  const std::string before = "  %3: f32[B, 3, 9] = convolution(%0, %1)" + attrs +
                             "  %4: f32[B, 3, 9] = broadcast(%2) {dims=[1]}\n"
                             "  %5: f32[B, 3, 9] = mul(%3, %4)\n";
  const ir::Graph folded = passes::fold_scales(ir::parse(convolved(before, "%5"), ops::find_op));
  ir::verify(folded);
  const std::string after =
      "  %3: f32[3, 2, 1] = broadcast(%2) {dims=[0]}\n"
      "  %4: f32[3, 2, 1] = mul(%1, %3)\n"
      "  %5: f32[B, 3, 9] = convolution(%0, %4)" +
      attrs;
  EXPECT_EQ(ir::print(folded), ir::print(ir::parse(convolved(after, "%5"), ops::find_op)));
  const ir::Graph read =
      ir::parse(convolved(before + "  %6: f32[B, 3, 9] = add(%5, %3)\n", "%6"), ops::find_op);
  EXPECT_EQ(ir::print(passes::fold_scales(read)), ir::print(read)) << "another node reads the convolution";
}

TEST(SimplifyAlgebra, IdentitiesGiveTheOperand) {
  for (const auto& [op, value] : {Identity{"mul(%0, %7)", "1"},
                                  {"mul(%7, %0)", "1"},
                                  {"add(%0, %7)", "0"},
                                  {"add(%7, %0)", "0"},
                                  {"sub(%0, %7)", "0"},
                                  {"div(%0, %7)", "1"},
                                  {"pow(%0, %7)", "1"},
                                  {"minimum(%0, %0)", "0"},
                                  {"maximum(%0, %0)", "0"},
                                  {"select(%2, %0, %0)", "0"},
                                  {"stop_gradient(%0)", "0"},
                                  {"cast(%0)", "0"}})
    becomes("simplify_algebra",
            "  %7: f32[B, 3] = constant() {value=" + std::string(value) + "}\n  %8: f32[B, 3] = " + op + "\n",
            "%8", "", "%0");
}

TEST(SimplifyAlgebra, KeepsWhatNaNOrInfinityWouldChange) {
  for (const char* op : {"mul(%0, %7)", "sub(%0, %0)", "div(%0, %0)", "sub(%7, %0)"})
    stays("simplify_algebra",
          "  %7: f32[B, 3] = constant() {value=0}\n  %8: f32[B, 3] = " + std::string(op) + "\n", "%8");
  stays("simplify_algebra", "  %7: f32[B, 3] = constant() {value=0.5}\n  %8: f32[B, 3] = pow(%0, %7)\n",
        "%8");
  stays("simplify_algebra", "  %7: f32[B, 3] = constant() {value=3}\n  %8: f32[B, 3] = div(%0, %7)\n", "%8");
}

TEST(SimplifyAlgebra, IntegersMayCancel) {
  becomes("simplify_algebra", "  %7: i32[3] = sub(%6, %6)\n", "%7", "  %7: i32[3] = constant() {value=0}\n",
          "%7");
  becomes("simplify_algebra", "  %7: i32[3] = constant() {value=0}\n  %8: i32[3] = mul(%6, %7)\n", "%8",
          "  %7: i32[3] = constant() {value=0}\n", "%7");
}

TEST(SimplifyAlgebra, SignsMove) {
  becomes("simplify_algebra", "  %7: f32[B, 3] = neg(%0)\n  %8: f32[B, 3] = neg(%7)\n", "%8", "", "%0");
  becomes("simplify_algebra", "  %7: f32[B, 3] = neg(%0)\n  %8: f32[B, 3] = add(%1, %7)\n", "%8",
          "  %7: f32[B, 3] = sub(%1, %0)\n", "%7");
  becomes("simplify_algebra", "  %7: f32[B, 3] = neg(%0)\n  %8: f32[B, 3] = sub(%1, %7)\n", "%8",
          "  %7: f32[B, 3] = add(%1, %0)\n", "%7");
  becomes("simplify_algebra", "  %7: f32[B, 3] = constant() {value=-1}\n  %8: f32[B, 3] = mul(%0, %7)\n",
          "%8", "  %7: f32[B, 3] = neg(%0)\n", "%7");
  becomes("simplify_algebra",
          "  %7: f32[B, 3] = neg(%0)\n  %8: f32[B, 3] = neg(%1)\n  %9: f32[B, 3] = mul(%7, %8)\n", "%9",
          "  %7: f32[B, 3] = mul(%0, %1)\n", "%7");
}

TEST(SimplifyAlgebra, PowersAndExactDivisions) {
  becomes("simplify_algebra", "  %7: f32[B, 3] = constant() {value=2}\n  %8: f32[B, 3] = pow(%0, %7)\n", "%8",
          "  %7: f32[B, 3] = mul(%0, %0)\n", "%7");
  becomes("simplify_algebra", "  %7: f32[B, 3] = constant() {value=8}\n  %8: f32[B, 3] = div(%0, %7)\n", "%8",
          "  %7: f32[B, 3] = constant() {value=0.125}\n  %8: f32[B, 3] = mul(%0, %7)\n", "%8");
}

TEST(SimplifyAlgebra, LogicAndChoice) {
  becomes("simplify_algebra",
          "  %7: bool[B, 3] = constant() {value=1}\n  %8: bool[B, 3] = logical_and(%2, %7)\n", "%8", "",
          "%2");
  becomes("simplify_algebra",
          "  %7: bool[B, 3] = constant() {value=0}\n  %8: bool[B, 3] = logical_or(%7, %2)\n", "%8", "", "%2");
  becomes("simplify_algebra", "  %7: bool[B, 3] = logical_not(%2)\n  %8: bool[B, 3] = logical_not(%7)\n",
          "%8", "", "%2");
  becomes("simplify_algebra",
          "  %7: bool[B, 3] = constant() {value=0}\n  %8: f32[B, 3] = select(%7, %0, %1)\n", "%8", "", "%1");
  becomes("simplify_algebra", "  %7: bool[B, 3] = logical_not(%2)\n  %8: f32[B, 3] = select(%7, %0, %1)\n",
          "%8", "  %7: f32[B, 3] = select(%2, %1, %0)\n", "%7");
}

TEST(SimplifyAlgebra, OnlyWideningCastsMerge) {
  becomes("simplify_algebra", "  %7: f64[B, 3] = cast(%0)\n  %8: f32[B, 3] = cast(%7)\n", "%8", "", "%0");
  becomes("simplify_algebra", "  %7: u8[B, 3] = cast(%2)\n  %8: f32[B, 3] = cast(%7)\n", "%8",
          "  %7: f32[B, 3] = cast(%2)\n", "%7");
  stays("simplify_algebra", "  %7: i32[B, 3] = cast(%0)\n  %8: f32[B, 3] = cast(%7)\n", "%8");
  stays("simplify_algebra", "  %7: bf16[B, 3] = cast(%0)\n  %8: f32[B, 3] = cast(%7)\n", "%8");
}

TEST(SimplifyViews, CompositionsBecomeOne) {
  becomes("simplify_views",
          "  %7: f32[3, B] = transpose(%0) {perm=[1, 0]}\n  %8: f32[B, 3] = transpose(%7) {perm=[1, 0]}\n",
          "%8", "", "%0");
  becomes("simplify_views", "  %7: f32[3B] = reshape(%0)\n  %8: f32[B, 3] = reshape(%7)\n", "%8", "", "%0");
  becomes("simplify_views",
          "  %7: f32[3, 4] = broadcast(%4) {dims=[1]}\n  %8: f32[2, 3, 4] = broadcast(%7) {dims=[1, 2]}\n",
          "%8", "  %7: f32[2, 3, 4] = broadcast(%4) {dims=[2]}\n", "%7");
  becomes("simplify_views", "  %7: f32[1, 4] = reshape(%4)\n  %8: f32[B, 4] = broadcast(%7) {dims=[0, 1]}\n",
          "%8", "  %7: f32[B, 4] = broadcast(%4) {dims=[1]}\n", "%7");
  becomes("simplify_views",
          "  %7: f32[3, 4] = broadcast(%4) {dims=[1]}\n  %8: f32[4, 3] = transpose(%7) {perm=[1, 0]}\n", "%8",
          "  %7: f32[4, 3] = broadcast(%4) {dims=[0]}\n", "%7");
  becomes("simplify_views", "  %7: f32[B, 4] = broadcast(%4) {dims=[1]}\n  %8: f32[B, 1, 4] = reshape(%7)\n",
          "%8", "  %7: f32[B, 1, 4] = broadcast(%4) {dims=[2]}\n", "%7");
}

TEST(SimplifyViews, ReshapesThatRegroupStay) {
  stays("simplify_views", "  %7: f32[3, 4] = broadcast(%4) {dims=[1]}\n  %8: f32[12] = reshape(%7)\n", "%8");
  stays("simplify_views", "  %7: f32[12] = reshape(%3)\n  %8: f32[2, 12] = broadcast(%7) {dims=[1]}\n", "%8");
}

TEST(SimplifyViews, NothingToDoVanishes) {
  becomes("simplify_views", "  %7: f32[B, 3] = pad(%0) {low=[0, 0], high=[0, 0], value=1}\n", "%7", "", "%0");
  becomes("simplify_views", "  %7: f32[B, 3] = slice(%0) {start=[0, 0], stop=[-1, 3], step=[1, 1]}\n", "%7",
          "", "%0");
  becomes("simplify_views", "  %7: f32[4] = concat(%4) {axis=0}\n", "%7", "", "%4");
  becomes("simplify_views", "  %7: f32[B, 3] = broadcast(%0) {dims=[0, 1]}\n", "%7", "", "%0");
}

TEST(SimplifyViews, ReductionsMerge) {
  becomes("simplify_views",
          "  %7: f32[3] = reduce_sum(%3) {axes=[1]}\n  %8: f32[] = reduce_sum(%7) {axes=[0]}\n", "%8",
          "  %7: f32[] = reduce_sum(%3) {axes=[0, 1]}\n", "%7");
  becomes("simplify_views",
          "  %7: f32[4, 3] = transpose(%3) {perm=[1, 0]}\n  %8: f32[3] = reduce_max(%7) {axes=[0]}\n", "%8",
          "  %7: f32[3] = reduce_max(%3) {axes=[1]}\n", "%7");
  becomes("simplify_views", "  %7: f32[1, 4] = reshape(%4)\n  %8: f32[4] = reduce_sum(%7) {axes=[0]}\n", "%8",
          "  %7: f32[1, 4] = reshape(%4)\n  %8: f32[4] = reshape(%7)\n", "%8");
  stays("simplify_views",
        "  %7: f32[3] = reduce_sum(%3) {axes=[1]}\n  %8: f32[] = reduce_max(%7) {axes=[0]}\n", "%8");
}

TEST(FoldTransposes, BecomeFlags) {
  becomes(
      "fold_transposes",
      "  %7: f32[4, 3] = transpose(%3) {perm=[1, 0]}\n  %8: f32[B, 4] = matmul(%0, %7) {transpose_b=true}\n",
      "%8", "  %7: f32[B, 4] = matmul(%0, %3)\n", "%7");
  becomes("fold_transposes",
          "  %7: f32[3, B] = transpose(%0) {perm=[1, 0]}\n  %8: f32[3, 3] = matmul(%7, %1)\n", "%8",
          "  %7: f32[3, 3] = matmul(%0, %1) {transpose_a=true}\n", "%7");
  becomes("fold_transposes",
          "  %7: f32[B, 4] = matmul(%0, %3)\n  %8: f32[4, B] = transpose(%7) {perm=[1, 0]}\n", "%8",
          "  %7: f32[4, B] = matmul(%3, %0) {transpose_a=true, transpose_b=true}\n", "%7");
}

TEST(MergeSums, PadsSideBySideBecomeOneConcatenation) {
  const std::string pads =
      "  %7: f32[B, 1] = slice(%0) {start=[0, 0], stop=[-1, 1], step=[1, 1]}\n"
      "  %8: f32[B, 3] = pad(%7) {low=[0, 2], high=[0, 0], value=0}\n"
      "  %9: f32[B, 3] = pad(%7) {low=[0, LOW], high=[0, HIGH], value=0}\n"
      "  %10: f32[B, 3] = add(%8, %9)\n";
  const auto second_at = [&](const char* low, const char* high) {
    std::string text = pads;
    text.replace(text.find("LOW"), 3, low);
    text.replace(text.find("HIGH"), 4, high);
    return text;
  };
  becomes("merge_sums", second_at("0", "2"), "%10",
          "  %7: f32[B, 1] = slice(%0) {start=[0, 0], stop=[-1, 1], step=[1, 1]}\n"
          "  %8: f32[B, 1] = constant() {value=0}\n  %9: f32[B, 3] = concat(%7, %8, %7) {axis=1}\n",
          "%9");
  stays("merge_sums", second_at("2", "0"), "%10");
}

TEST(MergeSums, ProductsOfEveryStepBecomeOne) {
  std::string sum =
      "  %7: f32[3, 3] = matmul(%0, %1) {transpose_a=true}\n  %8: f32[3, 3] = matmul(%1, %0) "
      "{transpose_a=true}\n"
      "  %9: f32[3, 3] = add(%7, %8)\n  %10: f32[3, 3] = matmul(%0, %0) {transpose_a=true}\n"
      "  %11: f32[3, 3] = add(%9, %10)\n";
  stays("merge_sums", sum, "%11");
  sum += "  %12: f32[3, 3] = matmul(%1, %1) {transpose_a=true}\n  %13: f32[3, 3] = add(%11, %12)\n";
  const ir::Graph merged = passes::find_pass("merge_sums")->run(ir::parse(graph(sum, "%13"), ops::find_op));
  ir::verify(merged);
  const Tensor& result = merged.outputs[0].value;
  EXPECT_EQ(result.node().op, &ops::matmul_op());
  EXPECT_EQ(to_string(result.node().inputs[0].type()), "f32[4B, 3]");
}

TEST(LowerMatvec, OneColumnOneRowOrOneInnerElement) {
  becomes("lower_matvec",
          "  %7: f32[3, 1] = slice(%3) {start=[0, 0], stop=[3, 1], step=[1, 1]}\n  %8: f32[B, 1] = "
          "matmul(%0, %7)\n",
          "%8",
          "  %7: f32[3, 1] = slice(%3) {start=[0, 0], stop=[3, 1], step=[1, 1]}\n"
          "  %8: f32[1, 3] = transpose(%7) {perm=[1, 0]}\n  %9: f32[B, 3] = broadcast(%8) {dims=[0, 1]}\n"
          "  %10: f32[B, 3] = mul(%0, %9)\n  %11: f32[B] = reduce_sum(%10) {axes=[1]}\n  %12: f32[B, 1] = "
          "reshape(%11)\n",
          "%12");
  stays("lower_matvec", "  %7: f32[B, 4] = matmul(%0, %3)\n", "%7");
}

TEST(EliminateCommon, EqualNodesBecomeOne) {
  becomes("eliminate_common",
          "  %7: f32[B, 3] = add(%0, %1)\n  %8: f32[B, 3] = add(%1, %0)\n  %9: f32[B, 3] = mul(%7, %8)\n",
          "%9", "  %7: f32[B, 3] = add(%0, %1)\n  %8: f32[B, 3] = mul(%7, %7)\n", "%8");
  stays("eliminate_common",
        "  %7: f32[B, 3] = sub(%0, %1)\n  %8: f32[B, 3] = sub(%1, %0)\n  %9: f32[B, 3] = mul(%7, %8)\n",
        "%9");
  stays("eliminate_common",
        "  %7: f32[B, 3] = constant() {value=0}\n  %8: f32[B, 3] = constant() {value=-0.0}\n  %9: f32[B, 3] "
        "= atan2(%7, %8)\n",
        "%9");
}

TEST(Pipeline, HasEachPassAndNamesOnce) {
  std::set<std::string_view> names;
  std::set<ir::Graph (*)(const ir::Graph&)> used;
  for (const ir::Pass& p : passes::pipeline()) {
    EXPECT_TRUE(names.insert(p.name).second) << p.name;
    used.insert(p.run);
  }
  for (const ir::Pass& p : passes::all_passes()) EXPECT_TRUE(used.contains(p.run)) << p.name;
}

}  // namespace
}  // namespace tightloop
