// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "report.h"

#include <tightloop/base/file.h>
#include <tightloop/train/report/compare.h>

#include <fmt/format.h>

namespace tightloop::cli {
namespace {

struct Arguments {
  std::vector<std::string> runs;
  std::string out = "compare.html";
  std::string by;
};

void run(const Arguments& a) {
  const train::Comparison comparison = train::compare_runs(a.runs, a.by);
  write_file(a.out, train::comparison_html(comparison, a.out), false);
  say(train::report::table_text(comparison.results));
  if (!comparison.differences.rows.empty()) say("\n" + train::report::table_text(comparison.differences));
  warn_of(comparison.notes);
  say(fmt::format("\nthe page is {}\n", a.out));
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("compare", "Put runs beside each other: a table, and a page with their curves");
  const auto a = std::make_shared<Arguments>();
  command->add_option("runs", a->runs, "Run directories")->required()->type_name("RUN");
  command->add_option("-o,--output", a->out, "The page; compare.html if left out")->type_name("PAGE");
  command
      ->add_option(
          "--by", a->by,
          "The metric to sort by; what the first run's job watches, or the validation loss, if left out")
      ->type_name("METRIC");
  command->footer("Example: tightloop compare run quick -o compare.html");
  command->callback([&action, a] { action = [a] { return run(*a), 0; }; });
}

}  // namespace tightloop::cli
