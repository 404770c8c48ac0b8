// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tests/support/tar.h>

#include <tightloop/data/images/folder.h>
#include <tightloop/data/loader.h>
#include <tightloop/io/npy.h>
#include <tightloop/train/pack.h>

#include <filesystem>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;

struct Pack : ::testing::Test {
  testing::TempDir dir;
  void SetUp() override {
    for (int i = 0; i < 70; ++i) add((i % 2 == 0 ? "a/" : "b/") + std::to_string(i) + ".png", "colour.png");
  }
  void add(const std::string& path, const std::string& image) const {
    fs::create_directories(fs::path(dir / ("set/" + path)).parent_path());
    fs::copy_file(testing::fixture("images/" + image), dir / ("set/" + path));
  }
  PackOptions options() const { return {.source = dir / "set", .out = dir / "out.npy"}; }
};

TEST_F(Pack, AFolderBecomesOneArrayItsLabelsAndItsClasses) {
  const Packed packed = pack(options());
  EXPECT_EQ(packed.rows, 70);
  const Array images = io::read_npy(dir / "out.npy"), labels = io::read_npy(dir / "out.labels.npy");
  const auto all = data::load_all(data::image_samples(data::list_classes(dir / "set"), {}, "x", "y"));
  EXPECT_TRUE(identical(images, all.data["x"]));
  EXPECT_TRUE(identical(labels, all.data["y"]));
  EXPECT_EQ(testing::content_of(dir / "out.classes.json"), "[\"a\",\"b\"]\n");
}

TEST_F(Pack, WhatCannotBeReadStopsOrIsLeftOut) {
  add("b/71.jpg", "cut.jpg");
  EXPECT_ERROR(pack(options()), "71.jpg: the JPEG is damaged");
  EXPECT_FALSE(fs::exists(dir / "out.npy"));
  PackOptions skip = options();
  skip.on_error = "skip";
  skip.images.size = {4, 6};
  skip.images.channels = 1;
  const Packed packed = pack(skip);
  EXPECT_EQ(packed.rows, 70);
  ASSERT_EQ(packed.notes.size(), 1u);
  EXPECT_EQ(io::read_npy(dir / "out.npy").type_string(), "u8[70, 1, 4, 6]");
}

TEST_F(Pack, AdviceIsInItsOwnWords) {
  add("b/71.png", "tiny.png");
  EXPECT_ERROR(pack(options()), "71.png: is 1 high and 1 wide, the first image 23 and 37; give --size");
  fs::remove(dir / "set/b/71.png");
  add("b/72.png", "deep.png");
  PackOptions o = options();
  o.images.size = {4, 4};
  EXPECT_ERROR(pack(o), "72.png: has 16 bits a sample, more than bytes hold; give --type f32");
  o.images.type = "f32";
  EXPECT_EQ(pack(o).rows, 71);
  EXPECT_EQ(io::read_npy(dir / "out.npy").type_string(), "f32[71, 3, 4, 4]");
}

TEST_F(Pack, EndedItLeavesNothing) {
  PackOptions o = options();
  o.progress = [](std::int64_t done, std::int64_t) { return done == 0; };
  EXPECT_ERROR(pack(o), "ended before all images were packed");
  EXPECT_EQ(dir.entries(), 1u);
  o.out = dir / "out.bin";
  EXPECT_ERROR(pack(o), "images are packed into a .npy file");
  o.out = dir / "nowhere/out.npy";
  EXPECT_ERROR(pack(o), "nowhere/out.npy: cannot be written");
}

TEST_F(Pack, ShardsToo) {
  const std::string image = testing::content_of(testing::fixture("images/tiny.png"));
  testing::put(dir / "s.tar", testing::tar_entry("1.png", image) + testing::tar_entry("1.cls", "5"));
  PackOptions o = options();
  o.source = dir / "s.tar";
  EXPECT_EQ(pack(o).rows, 1);
  EXPECT_EQ(io::read_npy(dir / "out.labels.npy").int_at(0), 5);
  EXPECT_FALSE(fs::exists(dir / "out.classes.json"));
}

}  // namespace
}  // namespace tightloop::train
