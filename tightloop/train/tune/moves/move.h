// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/job_run.h>
#include <tightloop/train/tune/measure.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::train::tune {

/// What a move may look at.
struct Situation {
  const Job& job;
  const PreparedJob& prepared;
  int cores = 1;                           ///< that this process can use at the same time
  std::size_t free_memory = 0;             ///< bytes
  std::vector<std::string> features = {};  ///< of the CPU, as the system names them: "avx512_bf16"

  const DataPart& part() const { return prepared.data.data.train; }
  std::int64_t rows() const { return part().count(); }
  bool has_feature(std::string_view name) const;
};

/// One way to do a move.
struct Variant {
  std::string label;  ///< "batch 128, lr 0.002"
  Settings sets;
};

struct Proposal {
  std::vector<Variant> variants = {};
  std::string skipped = {};  ///< why there are none
  bool ladder = false;  ///< each goes further than the one before: none is tried behind one that is no better
};

/// What a move changes beside speed.
enum class Effect : std::uint8_t {
  none,     ///< the same bits
  numbers,  ///< other numbers: the loss must stay within the band
  fewer,    ///< fewer reports of the same training
};

/// A known acceleration: one file, one line in index.def.
struct MoveDef {
  std::string_view name;
  std::string_view doc;  ///< one phrase
  Effect effect = Effect::none;
  Proposal (*propose)(const Situation&) = nullptr;
};

/// A move and what it proposes for the job.
struct Proposed {
  std::string move;
  Effect effect = Effect::none;
  Proposal proposal;
};

/// True where a job may say the key.
bool has_key(std::string_view path);
/// The job's value of a key, as it is written in a file; "" when it is left out or there is no such key.
std::string value_of(const Job& job, std::string_view path);
/// "key=value" for TOML values.
std::string set(std::string_view key, std::int64_t value);
std::string set(std::string_view key, double value);
std::string set(std::string_view key, std::string_view toml);

Proposal skip(std::string why);

/// The settings for batches of `batch` rows, with what the job counts in batches (max_steps, limit_batches,
/// log_every) made to mean as many samples as before.
Settings with_batch(const Job& job, std::int64_t batch);
/// Why the batch cannot be changed without changing what is asked for; "" when it can.
std::string batch_is_bound(const Job& job);

}  // namespace tightloop::train::tune
