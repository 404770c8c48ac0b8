// SPDX-License-Identifier: Apache-2.0
// Predictions of a folder of images carry the names of the files.
#include "command.h"

#include <tests/support/tar.h>

namespace tightloop::cli {
namespace {

/// A PNG of one gray pixel.
std::string png_pixel() {
  const unsigned char bytes[] = {
      0x89, 'P',  'N',  'G',  0x0d, 0x0a, 0x1a, 0x0a, 0,    0,    0,    0x0d, 'I',  'H',  'D',  'R',  0,
      0,    0,    1,    0,    0,    0,    1,    8,    0,    0,    0,    0,    0x3a, 0x7e, 0x9b, 0x55, 0,
      0,    0,    0x0a, 'I',  'D',  'A',  'T',  0x78, 0x9c, 0x63, 0x68, 0,    0,    0,    0x82, 0,    0x81,
      0x77, 0xcd, 0x72, 0xb6, 0,    0,    0,    0,    'I',  'E',  'N',  'D',  0xae, 0x42, 0x60, 0x82};
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

const char* const kPhotos = R"toml([data]
train = "photos"
inputs = { image = "image" }
target = { kind = "class" }
images = { channels = 1 }
on_error = "skip"
batch = 2
[model]
forward = "y = linear(flatten(image), 2)"
[train]
loss = "cross_entropy"
epochs = 1
)toml";

TEST(PredictImages, NamesFilesAndLeavesGaps) {
  Folder folder;
  for (const char* path :
       {"photos/a/1.png", "photos/a/2.png", "photos/b/1.png", "new/x, y.png", "new/deep/z.png"})
    folder.write(path, png_pixel());
  folder.write("new/broken.png", png_pixel().substr(0, 40));
  folder.write("job.toml", kPhotos);
  const Outcome trained = tightloop(folder, "train job.toml --out run --quiet");
  ASSERT_EQ(trained.status, 0) << trained.out;
  const Outcome o = tightloop(folder, "predict run new -o p.csv");
  ASSERT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("no prediction: "), std::string::npos) << o.out;
  const std::string table = folder.read("p.csv");
  EXPECT_TRUE(table.starts_with("file,a,b\nbroken.png,,\ndeep/z.png,")) << table;
  EXPECT_NE(table.find("\n\"x, y.png\","), std::string::npos) << table;
}

TEST(CheckImages, SeesShardsAsTrainingDoes) {
  Folder folder;
  folder.write("s-0.tar", testing::tar_entry("a.png", png_pixel()) + testing::tar_entry("a.cls", "0") +
                              testing::tar_entry("b.png", png_pixel()) + testing::tar_entry("b.cls", "1") +
                              testing::tar_end());
  folder.write("job.toml", kPhotos);
  const std::string arguments = " job.toml --set data.train=s-0.tar";
  const Outcome checked = tightloop(folder, "check" + arguments);
  EXPECT_EQ(checked.status, 0) << checked.out;
  const Outcome trained = tightloop(folder, "train" + arguments);
  EXPECT_EQ(trained.status, 0) << trained.out;
}

}  // namespace
}  // namespace tightloop::cli
