// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/data/dataset.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tightloop::data {

enum class Normalization : std::uint8_t { none, standard, minmax };

/// The one list of normalisations, in enum order, with their names in job files.
inline constexpr std::array<std::pair<Normalization, std::string_view>, 3> kNormalizations{{
    {Normalization::none, "none"},
    {Normalization::standard, "standard"},
    {Normalization::minmax, "minmax"},
}};

/// Throws Error (with the nearest name) on an unknown name.
Normalization normalization_from_name(std::string_view name);

/// A field is normalised as (x - shift) / scale, feature by feature: `standard` shifts by the mean and
/// scales by the population standard deviation, `minmax` maps minimum..maximum to 0..1. A feature
/// that is the same in all rows gets the scale 1.
struct FieldScale {
  std::string field;
  Array shift;  ///< the field's dims without the rows; f64 for f64 fields, f32 for others
  Array scale;  ///< as shift, never zero
};

/// Statistics over the given rows (the training part; all rows when empty) of `field`, in f64. Throws
/// Error naming field, row and feature on a NaN or infinity, and when a field of integers other than
/// u8, or of bool, is given.
FieldScale field_scale(const Field& field, Normalization how, std::span<const std::int64_t> rows = {});

/// Whether a field of this type is normalised: floats and u8. Other integers are labels or indices.
bool is_normalized(DType dtype);

/// field_scale() of each named field that is_normalized(); empty for Normalization::none.
std::vector<FieldScale> fit_normalization(const Dataset& data, const std::vector<std::string>& fields,
                                          Normalization how, std::span<const std::int64_t> rows = {});

/// "FIELD.shift" and "FIELD.scale" by name, ready to be saved with a model, and back. from_tensors() throws
/// Error when one of the two lacks, their shapes differ, or a scale is zero or not finite.
std::vector<std::pair<std::string, Array>> to_tensors(const std::vector<FieldScale>& scales);
std::vector<FieldScale> from_tensors(const std::vector<std::pair<std::string, Array>>& tensors);

/// The normalised copy of `values: [N, ...]`, of the dtype of the scale. What the compiled
/// loop does on the fly. Throws Error when the features do not fit.
Array normalized(const Array& values, const FieldScale& scale);

}  // namespace tightloop::data
