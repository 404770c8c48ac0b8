// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "report.h"

#include <tightloop/base/file.h>
#include <tightloop/engine/explain.h>
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/table.h>
#include <tightloop/train/session.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tightloop::cli {
namespace {

using train::report::shortened;
using train::report::Table;
using train::report::table_text;

struct Arguments {
  JobArguments job;
  std::string dump;
  std::string directory;
  bool all = false;
};

const char* text_of(backends::Supplier supplier) {
  switch (supplier) {
    case backends::Supplier::generated:
      return "generated";
    case backends::Supplier::library:
      return "oneDNN";
    case backends::Supplier::loops:
      return "loops";
    case backends::Supplier::none:
      break;
  }
  return "nobody";
}

const char* text_of(backends::Part part) {
  switch (part) {
    case backends::Part::data:
      return "data";
    case backends::Part::forward:
      return "forward";
    case backends::Part::backward:
      return "backward";
    case backends::Part::update:
      break;
  }
  return "update";
}

std::string amount(double value) { return value > 0 ? fmt::format("{:.3g}", value) : ""; }

std::string passes_text(const Program& program) {
  Table table{"", {"pass", "ms", "nodes after it"}, {true}};
  for (const auto& pass : program.passes())
    table.rows.push_back({std::string(pass.name) + (pass.skipped ? " (left out)" : ""),
                          fmt::format("{:.2f}", pass.milliseconds), fmt::format("{}", pass.nodes)});
  return "passes, in their order:\n" + table_text(table);
}

std::string kernels_text(const backends::StepFacts& facts, bool all) {
  constexpr std::size_t most = 60;
  Table table{"", {"", "part", "kernel", "result", "by", "flops", "bytes"}, {false, true, true, true, true}};
  for (std::size_t i = 0; i < facts.kernels.size() && (all || i < most); ++i) {
    const auto& k = facts.kernels[i];
    table.rows.push_back({fmt::format("{}.{}", k.phase + 1, i), text_of(k.part), shortened(k.label(), 60),
                          k.type, std::string(text_of(k.supplier)) + (k.chain ? ", chain" : ""),
                          amount(k.flops), amount(k.bytes)});
  }
  std::string out = fmt::format(
                        "{} kernels in {} phases (the threads meet behind each); kernels of a chain run one "
                        "after the other on {} samples at a time:\n",
                        facts.kernels.size(), facts.phases, facts.stretch) +
                    table_text(table);
  if (!all && facts.kernels.size() > most)
    out += fmt::format("and {} more; --all shows them\n", facts.kernels.size() - most);
  return out;
}

/// Each reason once, with how many kernels it holds for.
std::string reasons_text(const backends::StepFacts& facts) {
  std::vector<std::pair<std::string, int>> counts;
  for (const auto& k : facts.kernels) {
    const std::string text = fmt::format("{}: {}", text_of(k.supplier), k.reason);
    const auto at =
        std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == text; });
    if (at == counts.end())
      counts.emplace_back(text, 1);
    else
      ++at->second;
  }
  std::string out = "who computes, and why:\n";
  for (const auto& [text, count] : counts) out += fmt::format("{:>5}  {}\n", count, text);
  return out;
}

std::string layout_text(const backends::StepFacts& facts) {
  std::string out = fmt::format(
      "layouts: {} operands are brought into another order, {} states are copied at the "
      "end of a step\n",
      facts.transposes, facts.copies);
  if (facts.casts.empty()) return out + "casts: none\n";
  out += "casts:\n";
  for (const auto& c : facts.casts)
    out += fmt::format("{:>5}  {} to {}{}\n", c.count, c.from, c.to, c.path.empty() ? "" : " in " + c.path);
  return out;
}

std::string memory_text(const Program& program, const backends::StepFacts& facts, const Sizes& sizes) {
  constexpr std::size_t most = 10;
  const MemoryReport memory = program.memory(sizes);
  std::string out =
      fmt::format("memory: states {}, temporaries {} ({} shared, {} for each thread), results {}\n",
                  bytes_text(memory.state), bytes_text(memory.temporaries), bytes_text(facts.arena),
                  bytes_text(facts.local), bytes_text(memory.results));
  Table table{"", {"temporary of", "type", "bytes", "phases"}, {true, true}};
  for (const auto& b : facts.buffers) {
    if (table.rows.size() == most) break;
    table.rows.push_back({shortened(b.owner, 60), b.type, fmt::format("{}", b.bytes),
                          b.local ? "a thread's own" : fmt::format("{}-{}", b.first + 1, b.last + 1)});
  }
  return out + (table.rows.empty() ? "" : table_text(table));
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw Error(fmt::format("--dump: the folder {} cannot be made: {}", path, error.message()));
}

void dump(const Program& program, const Arguments& a) {
  const auto write = [&](const char* name, const std::string& text) {
    const std::string path = (std::filesystem::path(a.directory) / name).string();
    write_file(path, text, false);
    say(fmt::format("wrote {}\n", path));
  };
  if (a.dump == "ir") write("step.txt", ir::print(program.graph()));
  if (a.dump == "llvm") write("step.ll", llvm_text(program));
  if (a.dump == "asm") write("step.s", assembly_text(program));
}

int run(const Arguments& a) {
  if (a.dump.empty() != a.directory.empty())
    throw Error("--dump takes what to write and a folder: --dump llvm out");
  const train::Job job = a.job.load();
  if (job.train.backend == "reference")
    throw Error("explain: the interpreter compiles nothing; write --set train.backend=compiled");
  train::PreparedJob prepared = train::prepare(job);
  const train::TrainingData& data = prepared.data.data;
  train::TrainerOptions& o = prepared.options;
  if (!a.dump.empty()) make_folder(a.directory);
  if (a.dump == "ir") o.compile.passes.dump_directory = a.directory;
  const train::Model model = prepared.model->model();
  train::Session session(model, prepared.loss, *prepared.optimizer,
                         train::DataSpec::of(data.train.data, data.target, data.scales), data.train,
                         o.session());
  session.bound().reserve(session.sampling());
  const Program& program = session.bound().program();
  const Sizes sizes = session.bound().sizes(session.sampling());
  const backends::StepFacts facts = program.facts(sizes);
  const auto& report = program.report();
  say(fmt::format("the training step of {}, batch {}: compiled in {:.1f} ms{}\n\n", a.job.file, sizes.batch,
                  report.compile_ms, report.cached ? " (native code from the cache)" : ""));
  say(passes_text(program) + "\n" + kernels_text(facts, a.all) + "\n" + reasons_text(facts) + "\n" +
      layout_text(facts) + "\n" + memory_text(program, facts, sizes) + "\n");
  say(fmt::format("threads: up to {}{}; the steps themselves then decide between these and one\n",
                  report.threads,
                  o.compile.threads > 0 ? fmt::format(" (train.threads = {})", o.compile.threads)
                                        : ", by the work of a step"));
  if (!a.dump.empty()) dump(program, a);
  return 0;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("explain", "Compile a job's step and say what the compiler did");
  const auto a = std::make_shared<Arguments>();
  a->job.add_to(*command);
  std::vector<std::string> kinds{"ir", "llvm", "asm"};
  command->add_flag("--all", a->all, "Show all kernels, however many");
  const auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("--dump", *words, "Write the graphs (ir), LLVM IR (llvm) or assembly (asm) into DIR")
      ->type_name("ir|llvm|asm DIR")
      ->expected(2);
  command->footer("Example: tightloop explain job.toml --dump llvm dump");
  command->callback([&action, a, words, kinds] {
    if (!words->empty()) {
      a->dump = words->at(0);
      a->directory = words->at(1);
      if (std::find(kinds.begin(), kinds.end(), a->dump) == kinds.end())
        throw CLI::ValidationError("--dump", "takes ir, llvm or asm, not " + a->dump);
    }
    action = [a] { return run(*a); };
  });
}

}  // namespace tightloop::cli
