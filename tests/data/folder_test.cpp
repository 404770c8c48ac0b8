// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>

#include <tightloop/data/images/folder.h>
#include <tightloop/data/loader.h>

#include <filesystem>

namespace tightloop::data {
namespace {

namespace fs = std::filesystem;

/// A folder whose files are copies of fixtures: "1/a.png", ...
struct Folder {
  testing::TempDir dir;
  void add(const std::string& path, const std::string& image = "colour.png") const {
    fs::create_directories(fs::path(dir / path).parent_path());
    fs::copy_file(testing::fixture("images/" + image), dir / path);
  }
};

TEST(ImageFolder, ClassesStandInTheOrderOfTheirBytes) {
  Folder f;
  for (const char* path :
       {"2/b.png", "10/z.PNG", "1/q.jpg", "2/a.webp", "1/deep/er/x.png", ".hidden/a.png", "2/.b.png"})
    f.add(path);
  testing::put(f.dir / "README.txt", "no image");
  testing::put(f.dir / "2/Thumbs.db", "no image");
  const ImageFolder got = list_classes(f.dir.path());
  EXPECT_EQ(got.classes, (std::vector<std::string>{"1", "10", "2"}));
  EXPECT_EQ(got.files,
            (std::vector<std::string>{"1/deep/er/x.png", "1/q.jpg", "10/z.PNG", "2/a.webp", "2/b.png"}));
  EXPECT_EQ(got.labels, (std::vector<std::int64_t>{0, 0, 1, 2, 2}));
  EXPECT_EQ(got.left_out, (std::vector<std::string>{"2/Thumbs.db"}));
  EXPECT_TRUE(is_image_folder(f.dir.path()));
  EXPECT_EQ(list_images(f.dir.path()).files.size(), 5u);
}

TEST(ImageFolder, ProblemsAreNamed) {
  Folder f;
  EXPECT_ERROR(list_classes(f.dir.path()), "has no folders; images lie in one folder a class");
  fs::create_directory(f.dir / "cats");
  fs::create_directory(f.dir / "dogs");
  f.add("birds/a.png");
  EXPECT_ERROR(list_classes(f.dir.path()), "no images in the folders 'cats', 'dogs'; each folder is a class");
  const std::vector<std::string> known{"bird", "cats", "dogs"};
  EXPECT_ERROR(list_classes(f.dir.path(), &known),
               "the folder 'birds' is no class that was trained on (did you mean 'bird'?)");
  EXPECT_ERROR(list_classes(f.dir / "nowhere"), "the folder cannot be read");
  EXPECT_ERROR(list_images(f.dir / "cats"), "has no images");
}

TEST(ImageFolder, KnownClassesKeepTheirNumbers) {
  Folder f;
  f.add("dogs/a.png");
  const std::vector<std::string> known{"birds", "cats", "dogs"};
  EXPECT_EQ(list_classes(f.dir.path(), &known).labels, (std::vector<std::int64_t>{2}));
}

TEST(ImageFolder, SamplesAreDecodedImagesAndClasses) {
  Folder f;
  f.add("a/1.png");
  f.add("b/1.jpg", "colour.jpg");
  f.add("b/2.jpg", "cut.jpg");
  const auto samples = image_samples(list_classes(f.dir.path()), {.channels = 1}, "image", "kind");
  EXPECT_EQ(samples->fields()[0].dims, (std::vector<std::int64_t>{1, 23, 37}));
  EXPECT_EQ(samples->name(2), f.dir.path() + "/b/2.jpg");
  EXPECT_ERROR(load_all(samples), "b/2.jpg: the JPEG is damaged or cut short");
  const Loaded loaded = load_all(samples, {}, {.skip = true});
  EXPECT_EQ(loaded.data["kind"].int_at(1), 1);
  EXPECT_EQ(loaded.skipped.count(2), 1u);
}

TEST(ImageFolder, TheFirstImageThatCanBeReadShowsTheSize) {
  Folder f;
  testing::put(f.dir / "1.png", "no image");
  EXPECT_ERROR(image_samples(list_images(f.dir.path()), {}, "x", "y"),
               "1.png: is no image that is read here");
  f.add("2.png");
  const auto samples = image_samples(list_images(f.dir.path()), {}, "x", "y");
  EXPECT_EQ(samples->fields()[0].dims, (std::vector<std::int64_t>{3, 23, 37}));
  EXPECT_ERROR(load_all(samples), "1.png: is no image that is read here");
}

TEST(ImageFolder, TheSharedFolderHasThreeClasses) {
  const std::string root = testing::shared_fixture("imgfolder");
  if (root.empty()) GTEST_SKIP() << "the shared fixtures are not here";
  const ImageFolder got = list_classes(root);
  EXPECT_EQ(got.classes, (std::vector<std::string>{"1", "10", "2"}));
  EXPECT_EQ(got.files.size(), 3u);
  EXPECT_EQ(got.left_out, (std::vector<std::string>{"2/Thumbs.db"}));
  EXPECT_EQ(load_all(image_samples(got, {}, "x", "y")).data.rows(), 3);
}

}  // namespace
}  // namespace tightloop::data
