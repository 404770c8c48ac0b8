// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/io/png.h>
#include <tightloop/train/loggers/index.h>
#include <tightloop/train/loggers/tensorboard.h>

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>

namespace tightloop::train {
namespace {

constexpr std::size_t kBlock = 1 << 20;

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// As other writers name them, so that a later file of a run sorts behind an earlier one.
std::string file_name() {
  static std::atomic<int> number{0};
  char host[256] = "localhost";
  ::gethostname(host, sizeof host - 1);
  return fmt::format("{}{:010d}.{}.{}.{}", kEventFiles, static_cast<std::int64_t>(now()), host, ::getpid(),
                     number++);
}

bool has_event_files(const std::string& folder) {
  std::error_code ec;
  for (std::filesystem::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (it->path().filename().string().starts_with(kEventFiles)) return true;
  return false;
}

std::string folded(std::string path) {
  std::replace(path.begin(), path.end(), '.', '/');
  return path;
}

std::vector<double> numbers_of(const Array& a) {
  std::vector<double> out(static_cast<std::size_t>(a.count()));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = a.at(static_cast<std::int64_t>(i));
  return out;
}

/// Image `i` of [n, H, W] or [n, C, H, W] as bytes [H, W, C]: u8 as they are, other numbers with the smallest
/// of the image black and the greatest white.
struct Picture {
  std::int64_t height, width, channels;
  std::vector<std::uint8_t> pixels;
};
Picture picture(const Array& samples, std::int64_t i) {
  const auto& d = samples.dims();
  const bool flat = d.size() == 3;
  Picture out{d[flat ? 1 : 2], d[flat ? 2 : 3], flat ? 1 : d[1], {}};
  const std::int64_t plane = out.height * out.width, first = i * plane * out.channels;
  double low = 0, high = 255;
  if (samples.dtype() != DType::u8) {
    low = high = samples.at(first);
    for (std::int64_t k = 1; k < plane * out.channels; ++k) {
      low = std::min(low, samples.at(first + k));
      high = std::max(high, samples.at(first + k));
    }
  }
  const double scale = high > low ? 255 / (high - low) : 0;
  for (std::int64_t p = 0; p < plane; ++p)
    for (std::int64_t c = 0; c < out.channels; ++c) {
      const double v = (samples.at(first + c * plane + p) - low) * scale;
      out.pixels.push_back(static_cast<std::uint8_t>(v >= 0 ? std::min(v + 0.5, 255.0) : 0));
    }
  return out;
}

bool are_images(const Array& a) {
  const auto& d = a.dims();
  if (d.size() != 3 && d.size() != 4) return false;
  const std::int64_t channels = d.size() == 3 ? 1 : d[1];
  return (channels == 1 || channels == 3 || channels == 4) && d[d.size() - 2] >= 4 && d[d.size() - 1] >= 4;
}

/// A text that Markdown shows as it is.
std::string verbatim(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += "    " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

}  // namespace

TensorBoard::TensorBoard(TensorBoardOptions options) : options_(std::move(options)) {
  if (options_.images < 0 || options_.images > 1000)
    throw Error(fmt::format("logger tensorboard: images must be 0 to 1000, not {}", options_.images));
}

void TensorBoard::start(const RunInfo& info) {
  std::error_code ec;
  std::filesystem::create_directories(options_.folder, ec);
  if (ec) throw Error(fmt::format("{}: cannot be made: {}", options_.folder, ec.message()));
  const bool goes_on = info.resumed_at > 0 && has_event_files(options_.folder);
  file_.open((std::filesystem::path(options_.folder) / file_name()).string(), 0);
  step_tags_.clear();
  metrics_ = info.metrics;
  for (const std::string& v : info.values) step_tags_.push_back("train/" + v);
  add(io::version_event(now()));
  std::vector<std::string> tags{"epoch/train_loss", "epoch/validation_loss"};
  for (const std::string& m : metrics_) tags.push_back("epoch/" + m);
  if (!info.description.hyperparameters.empty()) {
    summary_.hyperparameters(info.description.hyperparameters, tags, now());
    add(summary_.event(now(), 0));
    summary_.clear();
  }
  if (!info.description.job.empty()) summary_.text("job", verbatim(info.description.job));
  if (are_images(info.samples) && !goes_on) add_images(info.samples);
  if (!summary_.empty()) add(summary_.event(now(), 0));
  summary_.clear();
  if (options_.graph && !info.model.empty() && !goes_on) add_model(info.model);
  flush();
}

void TensorBoard::add_images(const Array& samples) {
  for (std::int64_t i = 0; i < std::min(options_.images, samples.dims()[0]); ++i) {
    const Picture p = picture(samples, i);
    summary_.image(fmt::format("input/{}", i), p.height, p.width, p.channels,
                   io::encode_png(p.pixels, p.height, p.width, p.channels));
  }
}

void TensorBoard::add_model(const std::vector<ModelPart>& model) {
  std::vector<io::GraphNode> nodes;
  for (const ModelPart& part : model) {
    io::GraphNode node{folded(part.path), part.kind.substr(0, part.kind.find('(')), {}, part.kind, {}};
    for (const std::string& from : part.from) node.inputs.push_back(folded(from));
    for (std::size_t i = 0; i < part.type.shape.rank(); ++i)
      node.dims.push_back(part.type.shape[i].is_static() ? part.type.shape[i].factor : -1);
    nodes.push_back(std::move(node));
  }
  add(io::graph_event(now(), nodes));
}

void TensorBoard::steps(std::span<const StepRecord> records) {
  const double time = now();
  for (const StepRecord& r : records) {
    for (std::size_t i = 0; i < step_tags_.size(); ++i) summary_.scalar(step_tags_[i], r.values[i]);
    add(summary_.event(time, r.step));
    summary_.clear();
    if (waiting_.size() > kBlock) flush();
  }
}

void TensorBoard::epoch(const EpochRecord& e, const Weights& weights) {
  const auto add_scalar = [&](const std::string& name, double value) {
    summary_.scalar("epoch/" + name, value);
  };
  add_scalar("train_loss", e.train_loss);
  if (e.validation) {
    add_scalar("validation_loss", e.validation->loss);
    for (std::size_t i = 0; i < metrics_.size(); ++i) add_scalar(metrics_[i], e.validation->metrics.at(i));
  }
  add_scalar("lr", e.lr);
  add_scalar("samples_per_s", e.samples_per_s);
  for (const auto& [name, value] : e.extra)
    if (name != "lr") add_scalar(name, value);
  if (options_.histograms)
    for (const auto& [path, value] : weights)
      if (is_floating(value.dtype()))
        summary_.histogram("weights/" + folded(path), io::histogram(numbers_of(value)));
  add(summary_.event(now(), e.step));
  summary_.clear();
  if (waiting_.size() > kBlock) flush();
}

void TensorBoard::rewind(std::int64_t step) { add(io::restart_event(now(), step + 1)); }

void TensorBoard::flush() {
  if (waiting_.empty()) return;
  file_.append(waiting_);
  waiting_.clear();
}

void TensorBoard::end(const History& history) {
  summary_.finished(now());
  add(summary_.event(now(), history.steps));
  summary_.clear();
  flush();
}

const LoggerDef& tensorboard_logger() {
  static const LoggerDef def{
      "tensorboard",
      "an event file for TensorBoard",
      {{"histograms", OptionType::boolean, true, "of parameters and buffers, each epoch"},
       {"images", OptionType::integer, std::int64_t{4}, "of the first validation inputs"},
       {"graph", OptionType::boolean, true, "the parts of the model"}},
      [](const Options& o, const std::string& folder) -> std::shared_ptr<Logger> {
        return std::make_shared<TensorBoard>(TensorBoardOptions{
            folder, o.at<bool>("histograms"), o.at<std::int64_t>("images"), o.at<bool>("graph")});
      }};
  return def;
}

}  // namespace tightloop::train
