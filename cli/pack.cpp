// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <tightloop/train/pack.h>

#include <fmt/format.h>

#include <unistd.h>

namespace tightloop::cli {
namespace {

struct Arguments {
  train::PackOptions options;
  std::vector<std::int64_t> size;
  bool skip = false;
  bool quiet = false;
};

void run(Arguments a) {
  a.options.images.size = a.size.size() == 1 ? std::vector<std::int64_t>{a.size[0], a.size[0]} : a.size;
  if (a.skip) a.options.on_error = "skip";
  catch_interrupt();
  const bool show = !a.quiet && isatty(STDOUT_FILENO) != 0;
  a.options.progress = [&](std::int64_t done, std::int64_t of) {
    if (show) say(fmt::format("\r\033[K{} of {} images", done, of)), std::fflush(stdout);
    return !interrupted();
  };
  const train::Packed packed = train::pack(a.options);
  if (show) say("\r\033[K");
  for (const std::string& note : packed.notes) fmt::print(stderr, "tightloop: warning: {}\n", note);
  if (!a.quiet)
    say(fmt::format("{} in {}, {}\n", count_text(packed.rows, "image"), a.options.out,
                    bytes_text(packed.bytes)));
}

}  // namespace

void add_pack(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("pack", "Decode images once into one array that trains without decoding");
  const auto a = std::make_shared<Arguments>();
  command->add_option("source", a->options.source, "A folder with a folder of images a class, or tar shards")
      ->required()
      ->type_name("SOURCE");
  command
      ->add_option("-o,--out", a->options.out, "The array; classes go to OUT.labels.npy and OUT.classes.json")
      ->required()
      ->type_name("OUT.npy");
  command->add_option("--size", a->size, "Height and width that images are resized to; theirs if left out")
      ->expected(1, 2)
      ->type_name("N");
  command->add_option("--channels", a->options.images.channels, "1 (gray), 3 (RGB) or 4 (with alpha)")
      ->type_name("N");
  command
      ->add_option("--type", a->options.images.type,
                   "u8: bytes 0..255 (if left out); f32: numbers 0..1, also for images of 16 bits")
      ->check(CLI::IsMember({"u8", "f32"}))
      ->type_name("TYPE");
  command->add_option("--workers", a->options.workers, "Threads that decode; one for each core if left out")
      ->type_name("N");
  command->add_flag("--skip", a->skip, "Leave out what cannot be read instead of stopping");
  command->add_flag("--quiet", a->quiet, "Print errors only");
  command->footer("Example: tightloop pack photos -o photos.npy --size 64 64");
  command->callback([&action, a] { action = [a] { return run(*a), 0; }; });
}

}  // namespace tightloop::cli
