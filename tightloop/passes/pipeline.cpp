// SPDX-License-Identifier: Apache-2.0
#include <tightloop/passes/index.h>
#include <tightloop/passes/pipeline.h>

#include <array>

namespace tightloop::passes {

std::span<const ir::Pass> pipeline() {
  static constexpr auto passes = std::to_array<ir::Pass>({
      // Gradients bring in ones, zeros and scalars of the batch size: gone before anything else looks.
      {"fold_constants", fold_constants},
      // Broadcasts and transposes as few and as near to their source as can be.
      {"simplify_views", simplify_views},
      // Identities that hold for NaN and infinity too.
      {"simplify_algebra", simplify_algebra},
      // A BatchNorm that evaluates belongs to the convolution before it.
      {"fold_scales", fold_scales},
      // Weight gradients and x·Wᵀ read their operand transposed: that is a flag of matmul.
      {"fold_transposes", fold_transposes},
      // The gradients of what every step of a recurrence uses, before their products take other forms.
      {"merge_sums", merge_sums},
      // A product with one row, column or inner element fuses with its neighbours as multiply and sum.
      {"lower_matvec", lower_matvec},
      // Equal nodes become one, so that what follows sees each use.
      {"eliminate_common", eliminate_common},
      // What the lowering and merging left over.
      {"fold_constants_again", fold_constants},
      {"simplify_views_again", simplify_views},
      {"simplify_algebra_again", simplify_algebra},
      {"eliminate_common_again", eliminate_common},
  });
  return passes;
}

}  // namespace tightloop::passes
