// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <vector>

namespace tightloop::cli {
namespace {

struct Reports : testing::Test {
  void SetUp() override {
    folder.write("train.csv", table());
    folder.write("job.toml", kJob);
  }
  Outcome run(const std::string& arguments) const { return tightloop(folder, arguments); }
  void expect(const std::string& file, const std::vector<std::string>& texts) const {
    const std::string page = folder.read(file);
    for (const auto& text : texts) EXPECT_NE(page.find(text), std::string::npos) << file << ": " << text;
  }
  Folder folder;
};

TEST_F(Reports, ARegressionHasItsPage) {
  ASSERT_EQ(run("train job.toml").status, 0);
  expect("run/report.html",
         {"<title>run</title>", "Best validation loss", "in epoch 5 of 5", "took its full length",
          "id=curves", "y: predicted against true", "All 15 validation rows", "Linear(2, 1)", "[B, 1]",
          ">par<", "45 training rows, 15 validation rows", "compiling the step", "name=&quot;lin&quot;"});
}

TEST_F(Reports, AClassifierHasItsConfusion) {
  folder.write(
      "c.toml",
      with(with(with(with(kJob, "y = \"y\"", "kind = \"kind\""), "y = linear(x, 1,", "y = linear(x, 3,"),
                "\"mse\"", "\"cross_entropy\""),
           "mae", "accuracy"));
  const Outcome o = run("train c.toml --out c");
  ASSERT_EQ(o.status, 0) << o.out;
  expect("c/report.html", {"class=matrix", ">cat<", ">eel<", "precision", "Rows by class", "accuracy"});
}

TEST_F(Reports, IsLeftOutWhenTheJobSaysSo) {
  ASSERT_EQ(run("train job.toml").status, 0);
  ASSERT_TRUE(folder.has("run/report.html"));
  ASSERT_EQ(run("train job.toml --set output.report=false").status, 0);
  EXPECT_FALSE(folder.has("run/report.html")) << "the page of the earlier run";
  EXPECT_EQ(run("train job.toml --set output.report=3").status, 2);
}

TEST_F(Reports, ALossThatIsLostHasItsPage) {
  const Outcome o = run("train job.toml --set train.optimizer='{name=\"sgd\",lr=1e3}' --set train.epochs=50");
  ASSERT_EQ(o.status, 2) << o.out;
  expect("run/report.html", {"How it ended", "step"});
}

TEST_F(Reports, WithoutValidationItShowsTrainingRows) {
  ASSERT_EQ(run("train job.toml --set data.validation=0").status, 0);
  expect("run/report.html", {"Best train loss", "All 60 training rows (there are no validation rows)"});
}

TEST_F(Reports, AReportThatCannotBeWrittenEndsNoRun) {
  folder.write("run/report.html/x", "a folder in its place");
  folder.write("run/job.toml", "# A finished job, written by tightloop.\n");
  const Outcome o = run("train job.toml");
  EXPECT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("report.html was not written: "), std::string::npos) << o.out;
  EXPECT_TRUE(folder.has("run/model.safetensors"));
}

TEST_F(Reports, CompareSortsAndSaysWhatDiffers) {
  ASSERT_EQ(run("train job.toml --out slow --set train.optimizer.lr=0.0001").status, 0);
  ASSERT_EQ(run("train job.toml --out fast").status, 0);
  const Outcome o = run("compare slow fast");
  ASSERT_EQ(o.status, 0) << o.out;
  EXPECT_LT(o.out.find("\nfast "), o.out.find("\nslow ")) << o.out;
  EXPECT_NE(o.out.find("train.optimizer"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("output.directory"), std::string::npos) << o.out;
  expect("compare.html",
         {"2 runs compared", "href=\"fast/report.html\"", "train.optimizer", "lr = 0.0001", "seconds"});
  EXPECT_EQ(run("compare slow fast --by mae -o x.html").status, 0);
  expect("x.html", {"Sorted by the best mae"});
}

TEST_F(Reports, CompareNamesWhatItCannotRead) {
  ASSERT_EQ(run("train job.toml").status, 0);
  folder.write("broken/job.toml", "# A finished job, written by tightloop.\nnonsense = 1\n");
  folder.write("broken/metrics.csv", "epoch,step,train_loss\n1,2,0.5\n");
  folder.write("unfinished/.tightloop-unfinished/metrics.csv", "epoch,step,train_loss\n1,2,0.25\n");
  folder.write("empty/x", "");
  const Outcome o = run("compare run broken unfinished empty nowhere");
  ASSERT_EQ(o.status, 0) << o.out;
  for (const char* text :
       {"broken: its job cannot be read", "unfinished: not ended", "empty: is no run directory",
        "nowhere: is no run directory (there is no such folder)", "\nbroken ", "\nunfinished "})
    EXPECT_NE(o.out.find(text), std::string::npos) << text << "\n" << o.out;
  const Outcome none = run("compare empty nowhere");
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.out.find("no run could be read"), std::string::npos) << none.out;
  const Outcome by = run("compare run --by validation_los");
  EXPECT_EQ(by.status, 2);
  EXPECT_NE(by.out.find("did you mean 'validation_loss'?"), std::string::npos) << by.out;
}

TEST_F(Reports, ComparedNamesAreEscaped) {
  ASSERT_EQ(run("train job.toml --out \"a<b>&c d\"").status, 0);
  ASSERT_EQ(run("compare \"a<b>&c d\"").status, 0);
  expect("compare.html", {"a&lt;b&gt;&amp;c d", "href=\"a%3Cb%3E%26c%20d/report.html\""});
  EXPECT_EQ(folder.read("compare.html").find("a<b>"), std::string::npos);
}

}  // namespace
}  // namespace tightloop::cli
