// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/report/axis.h>
#include <tightloop/train/report/chart.h>
#include <tightloop/train/report/confusion.h>
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/metric_table.h>
#include <tightloop/train/report/numbers.h>
#include <tightloop/train/report/report.h>
#include <tightloop/train/report/residuals.h>
#include <tightloop/train/report/scatter.h>
#include <tightloop/train/report/table.h>
#include <tightloop/train/report/thin.h>

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tightloop::train {
namespace {

using namespace report;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t out = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++out;
  return out;
}

TEST(Escape, NothingOpensAnElementOrAnAttribute) {
  EXPECT_EQ(html("<script>alert('1')</script> & \"x\""),
            "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot;");
  EXPECT_EQ(html("Größe 猫 😀\n\t"), "Größe 猫 😀\n\t");
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(html(std::string("a\0b\x1B\x7F", 5)), "a" + bad + "b" + bad + bad);
  EXPECT_EQ(html("\xC0\x80|\xED\xA0\x80|\xF4\x90\x80\x80|\xE2\x82"),
            bad + bad + "|" + bad + bad + bad + "|" + bad + bad + bad + bad + "|" + bad + bad);
  EXPECT_EQ(html("\xC3<b>"), bad + "&lt;b&gt;") << "a lead byte must not swallow what follows";
}

TEST(Escape, AddressesAndShortenedTexts) {
  EXPECT_EQ(address("../a b/ü?#%.html"), "../a%20b/%C3%BC%3F%23%25.html");
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "ab…");
  EXPECT_EQ(shortened("äöüß", 3), "äö…");
}

TEST(Axis, LinearTicksAreRoundAndInside) {
  EXPECT_EQ(linear_ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(linear_ticks(1, 24, 6), (std::vector<double>{5, 10, 15, 20}));
  EXPECT_EQ(linear_ticks(-0.3, 0.3, 3), (std::vector<double>{-0.2, 0, 0.2}));
  EXPECT_EQ(linear_ticks(7, 7, 5), (std::vector<double>{7}));
  EXPECT_TRUE(linear_ticks(0, kInfinity, 5).empty());
  EXPECT_TRUE(linear_ticks(2, 1, 5).empty());
  EXPECT_TRUE(linear_ticks(kNaN, 1, 5).empty());
}

TEST(Axis, TicksAreFewWhateverTheRange) {
  for (const double low : {-1e300, -5.5, 0.0, 1e-300, 1.0, 1e15})
    for (const double span : {1e-300, 1e-12, 0.1, 3.0, 1e7, 1e300}) {
      const double high = low + span;
      for (const bool log : {false, true}) {
        const Axis axis = value_axis(low, high, log, 5);
        EXPECT_GE(axis.ticks.size(), 1u) << low << " " << high;
        EXPECT_LE(axis.ticks.size(), 12u) << low << " " << high;
        EXPECT_EQ(axis.ticks.size(), axis.texts.size());
        EXPECT_TRUE(std::is_sorted(axis.ticks.begin(), axis.ticks.end()));
        for (const double v : {low, high}) {
          EXPECT_GE(axis.at(v), -1e-6) << low << " " << high;
          EXPECT_LE(axis.at(v), 1 + 1e-6) << low << " " << high;
        }
      }
    }
}

TEST(Axis, LogTicks) {
  EXPECT_EQ(log_ticks(1, 1000, 5), (std::vector<double>{1, 10, 100, 1000}));
  EXPECT_EQ(log_ticks(0.3, 30, 5), (std::vector<double>{0.5, 1, 2, 5, 10, 20}));
  EXPECT_LE(log_ticks(1e-200, 1e200, 5).size(), 5u);
  EXPECT_TRUE(log_ticks(0, 1, 5).empty());
  const Axis axis = value_axis(1, 10000, true, 5);
  EXPECT_NEAR(axis.at(100), 0.5, 1e-12);
  EXPECT_TRUE(wants_log(0.01, 1));
  EXPECT_FALSE(wants_log(0.1, 1));
  EXPECT_FALSE(wants_log(-1, 1));
  EXPECT_FALSE(wants_log(0, 1));
}

TEST(Axis, Texts) {
  EXPECT_EQ(tick_text(0, 1), "0");
  EXPECT_EQ(tick_text(0.25, 0.05), "0.25");
  EXPECT_EQ(tick_text(0.5, 0.05), "0.50");
  EXPECT_EQ(tick_text(1200, 200), "1200");
  EXPECT_EQ(tick_text(12000, 2000), "12k");
  EXPECT_EQ(tick_text(3.5e6, 5e5), "3.5M");
  EXPECT_EQ(tick_text(1e-5, 1e-5), "1e-5");
  EXPECT_EQ(count_axis(1, 3, 6).texts, (std::vector<std::string>{"1", "2", "3"})) << "no half epochs";
}

TEST(Numbers, Texts) {
  EXPECT_EQ(number_text(0.29034), "0.2903");
  EXPECT_EQ(number_text(1.2e-9), "1.2e-9");
  EXPECT_EQ(number_text(123456), "123456");
  EXPECT_EQ(number_text(1e10), "1e10");
  EXPECT_EQ(number_text(kNaN), "nan");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(-123), "-123");
  EXPECT_EQ(seconds_text(0.0134), "13.4 ms");
  EXPECT_EQ(seconds_text(200), "3 min 20 s");
  EXPECT_EQ(seconds_text(7500), "2 h 5 min");
  EXPECT_EQ(place_text(-0.01), "0");
  EXPECT_EQ(place_text(12.34), "12.3");
}

TEST(Thin, KeepsTheExtremesOfEachColumn) {
  std::vector<double> x, y;
  for (int i = 0; i < 10000; ++i) x.push_back(i + 1), y.push_back(std::sin(i * 0.37) + (i == 4711 ? 50 : 0));
  const auto kept = thin(x, y, 100);
  EXPECT_LE(kept.size(), 400u);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_EQ(std::adjacent_find(kept.begin(), kept.end()), kept.end());
  EXPECT_EQ(kept.front(), 0u);
  EXPECT_EQ(kept.back(), 9999u);
  EXPECT_NE(std::find(kept.begin(), kept.end(), 4711u), kept.end());
  // the same pixels: lowest and highest of each column, found plainly
  for (int column = 0; column < 100; ++column) {
    double low = kInfinity, high = -kInfinity, kept_low = kInfinity, kept_high = -kInfinity;
    const auto in = [&](std::size_t i) {
      return std::min(99, static_cast<int>((x[i] - 1) / 9999 * 100)) == column;
    };
    for (std::size_t i = 0; i < x.size(); ++i)
      if (in(i)) low = std::min(low, y[i]), high = std::max(high, y[i]);
    for (const auto i : kept)
      if (in(i)) kept_low = std::min(kept_low, y[i]), kept_high = std::max(kept_high, y[i]);
    EXPECT_EQ(low, kept_low) << column;
    EXPECT_EQ(high, kept_high) << column;
  }
}

TEST(Thin, GapsStayAndShortLinesAreWhole) {
  std::vector<double> x, y;
  for (int i = 0; i < 1000; ++i) x.push_back(i), y.push_back(i >= 400 && i < 600 ? kNaN : i);
  std::size_t gaps = 0;
  for (const auto i : thin(x, y, 10)) gaps += std::isnan(y[i]) ? 1 : 0;
  EXPECT_GE(gaps, 1u);
  EXPECT_EQ(thin(std::vector<double>{1, 2, 3}, std::vector<double>{kNaN, 1, 1}, 10).size(), 3u);
  EXPECT_TRUE(thin({}, {}, 10).empty());
}

TEST(Chart, OnePolylineForEachStretch) {
  const std::string figure = line_chart(
      {.title = "Loss <1>",
       .lines = {{"training", {1, 2, 3, 4, 5}, {5, 4, kNaN, 2, 1}}, {"validation", {1, 2}, {3, 2}, 1}},
       .mark = 2,
       .mark_text = "best: 2"});
  EXPECT_EQ(count(figure, "<polyline"), 3u);
  EXPECT_EQ(count(figure, "class=\"end "), 2u);
  EXPECT_EQ(count(figure, "Loss &lt;1&gt;"), 2u) << "heading and description";
  EXPECT_NE(figure.find("data-y=\"5 4 2 1\""), std::string::npos) << figure;
  EXPECT_NE(figure.find("best: 2"), std::string::npos);
  EXPECT_EQ(figure.find("nan"), std::string::npos);
  EXPECT_EQ(line_chart({.title = "x", .lines = {{"a", {1, 2}, {kNaN, kInfinity}}}}), "");
}

TEST(Chart, ASinglePointIsDrawn) {
  const std::string figure = line_chart({.title = "Loss", .lines = {{"training", {1}, {0.5}}}});
  EXPECT_EQ(count(figure, "<polyline"), 1u);
  EXPECT_NE(figure.find("points=\"500,"), std::string::npos) << figure;
}

TEST(Chart, PlacesOfNames) {
  EXPECT_EQ(spread({10, 100}, 17, 0, 200), (std::vector<double>{10, 100}));
  const auto places = spread({50, 48, 49}, 17, 0, 200);
  EXPECT_LT(places[1], places[2]);
  EXPECT_LT(places[2], places[0]);
  EXPECT_GE(places[2] - places[1], 17);
  const auto low = spread({199, 200}, 17, 0, 200);
  EXPECT_EQ(low, (std::vector<double>{183, 200}));
}

TEST(Scatter, SizeFollowsPixels) {
  std::vector<double> x, y;
  for (int i = 0; i < 100000; ++i) x.push_back(i % 317), y.push_back(i % 211);
  const Scatter scatter{.title = "t", .x_name = "true", .y_name = "predicted", .x = x, .y = y};
  EXPECT_LT(scatter_chart(scatter).size(), 150000u);
  EXPECT_EQ(count(scatter_chart(scatter), "class=guide"), 1u);
  const std::vector<double> bad{kNaN};
  EXPECT_EQ(scatter_chart({.title = "t", .x_name = "", .y_name = "", .x = bad, .y = bad}), "");
}

TEST(ConfusionCounts, ScoresAreThoseOfTheDefinition) {
  Confusion c(3, {"cat", "<dog>"});
  c.add(0, 0, 5), c.add(0, 1, 3), c.add(1, 1, 6), c.add(1, 0, 2);
  c.add(-1, 0), c.add(0, 7);  // ignored rows and what no class is
  EXPECT_EQ(c.rows(), 16);
  const auto scores = c.scores();
  EXPECT_DOUBLE_EQ(scores[0].precision, 5.0 / 7);
  EXPECT_DOUBLE_EQ(scores[0].recall, 5.0 / 8);
  EXPECT_DOUBLE_EQ(scores[0].f1, 2 * (5.0 / 7) * (5.0 / 8) / (5.0 / 7 + 5.0 / 8));
  EXPECT_EQ(scores[2].rows, 0);
  EXPECT_EQ(scores[2].f1, 0);
  EXPECT_EQ(c.name(2), "2");
  ASSERT_EQ(c.confused(1).size(), 1u);
  EXPECT_EQ(c.confused(1)[0].rows, 3);
  const std::string page = confusion_html(c);
  EXPECT_EQ(page.find("<dog>"), std::string::npos);
  EXPECT_NE(page.find("&lt;dog&gt;"), std::string::npos);
  EXPECT_EQ(count(page, "class=matrix"), 1u);
}

TEST(ConfusionCounts, ManyClassesBecomePairs) {
  Confusion c(50000);
  for (int i = 0; i < 3000; ++i) c.add(i % 700, i % 500);
  const std::string page = confusion_html(c);
  EXPECT_EQ(count(page, "class=matrix"), 0u);
  EXPECT_NE(page.find("Most confused"), std::string::npos);
  EXPECT_LT(page.size(), 40000u);
}

TEST(ResidualSums, AgreeWithPlainSums) {
  Residuals r("y", 2);
  const std::vector<double> truth{1e6 + 1, 1e6 + 2, 1e6 + 4}, predicted{1e6 + 1.5, 1e6 + 1, 1e6 + 4};
  for (int i = 0; i < 3; ++i) r.add(truth[i], predicted[i]);
  r.add(kNaN, 1);
  EXPECT_EQ(r.count(), 3);
  EXPECT_EQ(r.lost(), 1);
  EXPECT_DOUBLE_EQ(r.mae(), 0.5);
  EXPECT_DOUBLE_EQ(r.rmse(), std::sqrt(1.25 / 3));
  EXPECT_NEAR(r.bias(), -0.5 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(r.largest(), 1);
  EXPECT_NEAR(r.r2(), 1 - 1.25 / (14.0 / 3), 1e-12);  // variance of 1, 2, 4 times 3 is 14/3
  EXPECT_EQ(r.truth().size(), 2u);
  Residuals same("y");
  same.add(1, 2), same.add(1, 3);
  EXPECT_TRUE(std::isnan(same.r2()));
}

TEST(MetricTables, AreReadAsWritten) {
  const MetricTable t = parse_metrics(
      "epoch,step,train_loss,validation_loss,accuracy,lr\n1,10,2.5,,,0.1\n2,20,nan,1.5,0.5,0.1\n3,30,1",
      "m.csv");
  EXPECT_EQ(t.rows(), 2u) << "the line that was cut short is no line";
  EXPECT_EQ(t.measured(), (std::vector<std::string>{"train_loss", "validation_loss", "accuracy"}));
  EXPECT_TRUE(std::isnan((*t.find("validation_loss"))[0]));
  EXPECT_TRUE(std::isnan((*t.find("train_loss"))[1]));
  EXPECT_EQ((*t.find("accuracy"))[1], 0.5);
  EXPECT_EQ(t.find("mae"), nullptr);
  EXPECT_EQ(usual_metric(t).metric, "validation_loss");
  EXPECT_EQ(best_row(t, watched("validation_loss")), 1u);
  EXPECT_FALSE(watched("accuracy").lower);
  EXPECT_FALSE(watched("top_k_2").lower);
  EXPECT_TRUE(watched("mae").lower);
  EXPECT_EQ(best_row(t, watched("unknown")), std::nullopt);
}

TEST(MetricTables, WhatIsNoTableIsRefused) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_metrics(text, "m.csv");
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(message(""), "m.csv: is no metrics.csv of a run: its first column is not epoch");
  EXPECT_EQ(message("a,b\n1,2\n"), "m.csv: is no metrics.csv of a run: its first column is not epoch");
  EXPECT_EQ(message("epoch,x,x\n"), "m.csv: column 'x' comes twice");
  EXPECT_EQ(message("epoch,x\n1\n"), "m.csv: line 2: has 1 fields, the first line 2");
  EXPECT_EQ(message("epoch,x\n1,y\n"), "m.csv: line 2: 'y' is no number");
  EXPECT_EQ(message("epoch,x\n2,1\n2,1\n"), "m.csv: line 3: epochs must rise");
}

TEST(Tables, TextAlignsAndHtmlEscapes) {
  const Table table{"", {"run", "loss"}, {true}, {{"a", "0.5"}, {"größer", "10"}}};
  EXPECT_EQ(table_text(table), "run     loss\na        0.5\ngrößer    10\n");
  const Table bad{"<c>", {"<h>"}, {true}, {{"<i>\x1B[1m"}}, {"x\"y"}};
  const std::string page = table_html(bad);
  for (const char* text : {"<c>", "<h>", "<i>", "x\"y"})
    EXPECT_EQ(page.find(text), std::string::npos) << text;
  EXPECT_EQ(table_text(bad).find('\x1B'), std::string::npos);
}

ReportData long_run(int epochs) {
  ReportData d{.title = "<run>", .history = {}, .metrics = {"mae", "r2"}};
  for (int e = 1; e <= epochs; ++e)
    d.history.epochs.push_back({e, e * 10, std::exp(-e * 1e-3) + 0.1 * std::sin(e * 17.0),
                                Evaluation{1.0 / e, {std::cos(e * 3.0), 0.5}}, 1e6 + e, e * 0.1, 0.01});
  d.history.steps = epochs * 10;
  return d;
}

TEST(ReportPage, IsSmallAndWholeForTenThousandEpochs) {
  const std::string page = report_html(long_run(10000));
  EXPECT_LT(page.size(), 200000u);
  EXPECT_NE(page.find("Best validation loss <b>0.0001</b> in epoch 10000 of 10000."), std::string::npos);
  EXPECT_EQ(page.find("<run>"), std::string::npos);
  EXPECT_EQ(count(page, "<figure"), 5u) << "loss, two metrics, rate, speed";
  for (const char* text : {"http://", "https://www", "<link rel=stylesheet", "src=", "url("})
    EXPECT_EQ(count(page, text), std::string(text) == "http://" ? 1u : 0u) << text << ": nothing is loaded";
}

TEST(ReportPage, WhatIsHostileIsText) {
  ReportData d = long_run(3);
  const std::string evil = "</pre></script><script>alert(1)</script>\"'";
  d.title = d.finished = d.ending = d.job = evil;
  d.notes = {evil};
  d.layers = {{evil, evil, evil, 1}};
  d.data = {1, 1, evil, {{evil, evil, evil, evil}}, {{evil, 1, 1}}};
  Confusion c(2, {evil, evil});
  c.add(0, 1);
  d.outcome = {evil, 1, 1, c, {}};
  const std::string page = report_html(d);
  EXPECT_EQ(count(page, "<script>"), 1u);
  EXPECT_EQ(count(page, "</script>"), 1u);
  EXPECT_EQ(count(page, "alert(1)</"), 0u);
}

TEST(ReportPage, ARunWithoutEpochsHasAPage) {
  const std::string page = report_html({.title = "run", .history = {}});
  EXPECT_NE(page.find("No epoch was completed."), std::string::npos);
  EXPECT_EQ(count(page, "<figure"), 0u);
}

}  // namespace
}  // namespace tightloop::train
