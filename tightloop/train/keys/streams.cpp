// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/keys/index.h>
#include <tightloop/train/keys/read.h>

namespace tightloop::train::keys {
namespace {

constexpr std::int64_t kLargestSide = 1 << 16;

std::vector<std::int64_t> image_size(const Value& v) {
  const auto* list = v.as<Value::List>();
  if (list == nullptr) return {whole(v, 1, kLargestSide), whole(v, 1, kLargestSide)};
  if (list->size() != 2) wrong(v, "one number or [height, width]");
  return {whole((*list)[0], 1, kLargestSide), whole((*list)[1], 1, kLargestSide)};
}

Images images(const Value& v) {
  const auto* table = v.as<Value::Table>();
  if (table == nullptr) wrong(v, "a table such as { size = [32, 32] }");
  Images out;
  out.given = true;
  for (const auto& [name, value] : *table) {
    if (name == "channels") {
      out.channels = whole(value, 1, 4);
      if (out.channels == 2) fail(value, "must be 1 (gray), 3 (RGB) or 4 (with alpha)");
    } else if (name == "size") {
      out.size = image_size(value);
    } else if (name == "type") {
      out.type = one_of(value, {"u8", "f32"});
    } else {
      fail(value,
           "is no option of images" + suggestion(name, std::vector<std::string>{"channels", "size", "type"}));
    }
  }
  return out;
}

Value images_value(const Job& j) {
  const Images& i = j.data.images;
  if (!i.given) return {};
  Value::Table out{{"channels", i.channels}, {"type", i.type}};
  if (!i.size.empty()) out.emplace_back("size", Value::List{i.size[0], i.size[1]});
  return out;
}

std::vector<Choice> transforms(const Value& v) {
  if (const auto* list = v.as<Value::List>(); list != nullptr && list->empty()) return {};
  return choices(v, "a list of transforms such as [\"horizontal_flip\"]");
}

std::int64_t workers(const Value& v) {
  const auto* s = v.as<std::string>();
  if (s == nullptr) return whole(v, 0, 1024);
  one_of(v, {"auto"});
  return -1;
}

}  // namespace

std::vector<Key> stream_keys() {
  return {
      {"data.transforms", "what changes the samples in training, in order", false,
       [](const Value& v, Job& j) { j.data.transforms = transforms(v); },
       [](const Job& j) { return choices_value(j.data.transforms); }},
      {"data.eval_transforms", "the same for validation, evaluation and prediction", false,
       [](const Value& v, Job& j) { j.data.eval_transforms = transforms(v); },
       [](const Job& j) {
         return j.data.eval_transforms ? choices_value(*j.data.eval_transforms) : Value{};
       }},
      {"data.images", "channels, size and type of decoded images", false,
       [](const Value& v, Job& j) { j.data.images = images(v); }, images_value},
      {"data.memory", "auto, resident or stream", false,
       [](const Value& v, Job& j) {
         j.data.memory = one_of(v, {"auto", "resident", "stream"});
       },
       [](const Job& j) { return Value{j.data.memory}; }},
      {"data.workers", "threads that make samples of a stream ahead, or auto", false,
       [](const Value& v, Job& j) { j.data.workers = workers(v); },
       [](const Job& j) { return j.data.workers < 0 ? Value{std::string("auto")} : Value{j.data.workers}; }},
      {"data.prefetch", "batches that each worker makes ahead", false,
       [](const Value& v, Job& j) { j.data.prefetch = whole(v, 1, 1024); },
       [](const Job& j) { return Value{j.data.prefetch}; }},
      {"data.on_error", "stop at a sample that cannot be read, or skip it", false,
       [](const Value& v, Job& j) {
         j.data.on_error = one_of(v, {"stop", "skip"});
       },
       [](const Job& j) { return Value{j.data.on_error}; }},
  };
}

}  // namespace tightloop::train::keys
