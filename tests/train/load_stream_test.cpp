// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tests/support/tar.h>

#include <tightloop/io/npy.h>
#include <tightloop/train/job_run.h>
#include <tightloop/train/load/stream.h>

#include <filesystem>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;
using testing::content_of;
using testing::fixture;
using testing::tar_entry;

struct LoadStream : ::testing::Test {
  testing::TempDir dir;

  void add(const std::string& path, const std::string& image = "colour.png") const {
    fs::create_directories(fs::path(dir / path).parent_path());
    fs::copy_file(fixture("images/" + image), dir / path);
  }
  void three_classes() const {
    for (const char* kind : {"a", "b", "c"})
      for (const char* file : {"1.png", "2.png", "3.png", "4.png"})
        add(std::string("set/") + kind + "/" + file);
  }
  Job job(const std::string& data) const {
    Job j = parse_job("[data]\n" + data +
                          "batch = 5\n[model]\nforward = \"y = linear(flatten(image), 3)\"\n[train]\nloss = "
                          "\"cross_entropy\"\nepochs = 2\nbackend = \"reference\"\n",
                      "job.toml");
    j.folder = dir.path();
    j.output.directory = dir / "run";
    return j;
  }
  LoadedData load(const std::string& data) const { return load_data(job(data), nn::TargetKind::classes); }
};

const std::string kImages = "inputs = { image = \"image\" }\ntarget = { kind = \"class\" }\n";

TEST_F(LoadStream, AFolderOfImagesIsDecodedOnceOrStreamed) {
  three_classes();
  testing::put(dir / "set/a/notes.txt", "");
  const LoadedData resident = load("train = \"set\"\n" + kImages);
  EXPECT_FALSE(resident.data.train.is_stream());
  EXPECT_EQ(resident.data.train.data["image"].type_string(), "u8[12, 3, 23, 37]");
  EXPECT_EQ(resident.classes, (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(resident.notes.size(), 1u);
  EXPECT_NE(resident.notes[0].find("'a/notes.txt'"), std::string::npos);
  const LoadedData streamed = load("train = \"set\"\nmemory = \"stream\"\nvalidation = 0.25\n" + kImages);
  EXPECT_TRUE(streamed.data.train.is_stream());
  EXPECT_EQ(streamed.data.train.count(), 9);
  EXPECT_EQ(streamed.data.validation->count(), 3);
  EXPECT_EQ(streamed.split.validation.size(), 3u);
  const auto all = data::load_all(streamed.data.train.samples);
  EXPECT_TRUE(identical(all.data["image"], resident.data.train.data["image"]));
  EXPECT_TRUE(identical(all.data["kind"], resident.data.train.data["kind"]));
}

TEST_F(LoadStream, LeadingTransformsAreDoneInDecoding) {
  three_classes();
  const std::string crop =
      "train = \"set\"\ntransforms = [{ name = \"random_resized_crop\", size = 8 }]\n" + kImages;
  const LoadedData d = load(crop + "validation = 0.25\n");
  EXPECT_TRUE(d.data.train.is_stream());
  EXPECT_EQ(d.data.train.samples->fields()[0].dims, (std::vector<std::int64_t>{3, 8, 8}));
  EXPECT_FALSE(data::is_random(image_options(job(crop), false).steps));
  EXPECT_EQ(image_options(job(crop), false).steps.size(), 2u);
  EXPECT_TRUE(after_decoding(job(crop)).data.transforms.empty());
  const LoadedData small =
      load("train = \"set\"\nimages = { size = 6, channels = 1, type = \"f32\" }\n" + kImages);
  EXPECT_EQ(small.data.train.data["image"].type_string(), "f32[12, 1, 6, 6]");
}

TEST_F(LoadStream, RandomCropsOfImagesInMemoryAreTakenByTheStep) {
  three_classes();
  const std::string crop =
      "train = \"set\"\ntransforms = [{ name = \"random_resized_crop\", size = 8 }, \"horizontal_flip\"]\n" +
      kImages;
  const LoadedData resident =
      load(crop + "memory = \"resident\"\nsampler = \"balanced\"\nvalidation = 0.25\n");
  EXPECT_EQ(resident.data.train.data["image"].type_string(), "u8[12, 3, 23, 37]");
  EXPECT_EQ(to_string(resident.model_inputs()[0].second), "f32[B, 3, 8, 8]");
  EXPECT_TRUE(load(crop + "sampler = \"balanced\"\n").data.train.is_stream());
  PreparedJob p = prepare(job(crop + "memory = \"resident\"\nvalidation = 0.25\n"));
  EXPECT_EQ(run_job(p, dir / "run", nullptr).steps, 4);
  add("set/c/5.png", "tiny.png");
  EXPECT_ERROR(load(crop + "memory = \"resident\"\n"), "so they need one size: set data.images.size");
}

TEST_F(LoadStream, FlipsAreTheSameWhereverTheCropsAreTaken) {
  three_classes();
  // the whole image, made larger, in which both ways of resizing agree
  const std::string list =
      "train = \"set\"\nimages = { type = \"f32\" }\ntransforms = [{ name = \"random_resized_crop\", size = "
      "[40, "
      "60], scale = [1, 1], ratio = [1.6, 1.61] }, \"horizontal_flip\"]\n" +
      kImages;
  std::vector<double> losses;
  for (const std::string memory : {"resident", "stream"}) {
    PreparedJob p = prepare(job("memory = \"" + memory + "\"\n" + list));
    EXPECT_EQ(p.data.data.train.is_stream(), memory == "stream");
    p.options.max_steps = 1;
    p.options.batch = 12;
    Trainer trainer(p.options, p.metrics);
    losses.push_back(trainer.fit(p.model->model(), p.loss, *p.optimizer, p.data.data).epochs[0].train_loss);
  }
  EXPECT_NEAR(losses[0], losses[1], 2e-3);
}

TEST_F(LoadStream, TheOtherTransformsAreDoneInTheStepWhereverTheImagesLie) {
  three_classes();
  const std::string list =
      "train = \"set\"\nnormalize = \"standard\"\ntransforms = [{ name = \"resize\", size = [6, 9] }, "
      "\"horizontal_flip\", { name = \"random_erasing\", p = 0.9 }]\n" +
      kImages;
  std::vector<Array> weights;
  for (const char* memory : {"memory = \"resident\"\n", "memory = \"stream\"\nworkers = 2\n"}) {
    PreparedJob p = prepare(job(list + memory));
    EXPECT_TRUE(p.data.data.train.transforms->random());
    EXPECT_FALSE(p.data.evaluation.random());
    Trainer trainer(p.options, p.metrics);
    trainer.fit(p.model->model(), p.loss, *p.optimizer, p.data.data);
    weights.push_back(p.model->parameters()[0].parameter->array().clone());
  }
  EXPECT_TRUE(identical(weights[0], weights[1]));
}

TEST_F(LoadStream, WhatWantsAllRowsFirstIsRefusedForStreams) {
  three_classes();
  const std::string stream = "train = \"set\"\nmemory = \"stream\"\n" + kImages;
  EXPECT_ERROR(load(stream + "window = { length = 3 }\n"), "data.window reads rows of a series in memory");
  EXPECT_ERROR(load("train = [\"set\", \"set\"]\n" + kImages), "data.train is a list");
  EXPECT_EQ(load("train = \"set\"\nsampler = \"balanced\"\n" + kImages).data.train.weighted.size(), 12u);
}

TEST_F(LoadStream, WhatDoesNotFitAFolderIsNamed) {
  three_classes();
  EXPECT_ERROR(load("train = \"set\"\ninputs = { image = \"x\" }\ntarget = { kind = \"class\" }\n"),
               "a folder of images gives one input: write inputs = { image = \"image\" }");
  EXPECT_ERROR(load("train = \"set\"\ninputs = { image = \"image\" }\ntarget = { kind = \"label\" }\n"),
               "write target = { kind = \"class\" }");
  EXPECT_ERROR(load_data(job("train = \"set\"\n" + kImages), nn::TargetKind::values),
               "the loss takes values");
  EXPECT_ERROR(load("train = \"nowhere\"\nimages = { size = 3 }\n" + kImages), "nowhere': No such file");
  add("set/c/5.jpg", "cut.jpg");
  EXPECT_ERROR(load("train = \"set\"\n" + kImages), "5.jpg: the JPEG is damaged or cut short");
  const LoadedData skipped = load("train = \"set\"\non_error = \"skip\"\n" + kImages);
  EXPECT_EQ(skipped.data.train.count(), 12);
  ASSERT_EQ(skipped.notes.size(), 1u);
  EXPECT_NE(skipped.notes[0].find("5.jpg"), std::string::npos);
}

TEST_F(LoadStream, AFolderTrainsEvaluatesAndPredicts) {
  three_classes();
  for (const char* memory : {"stream", "resident"}) {
    PreparedJob p = prepare(job("train = \"set\"\nnormalize = \"standard\"\nmemory = \"" +
                                std::string(memory) + "\"\n" + kImages));
    ASSERT_EQ(p.data.data.scales.size(), 1u);
    EXPECT_EQ(run_job(p, dir / "run", nullptr).steps, 6);
    TrainedModel trained = read_trained(dir / "run");
    EXPECT_EQ(trained.run.classes.size(), 3u);
    const auto other =
        load_other_streams(trained.run.job, trained.target, {dir / "set"}, trained.run.classes, true);
    ASSERT_TRUE(other);
    make_model(trained, *other);
    Trainer trainer(trained.options, trained.metrics);
    EXPECT_GT(trainer.evaluate(trained.model->model(), trained.loss, *other, trained.run.scales, "kind").loss,
              0);
    const auto inputs =
        load_other_streams(trained.run.job, trained.target, {dir / "set/a"}, trained.run.classes, false);
    EXPECT_EQ(trainer.predict(trained.model->model(), *inputs, trained.run.scales).dims(),
              (std::vector<std::int64_t>{4, 3}));
  }
}

TEST_F(LoadStream, ShardsHoldImagesArraysNumbersAndTexts) {
  const std::string image = content_of(fixture("images/colour.png")),
                    jpeg = content_of(fixture("images/colour.jpg"));
  testing::put(dir / "s-0.tar",
               tar_entry("1.png", image) + tar_entry("1.cls", "0\n") + tar_entry("1.txt", "dog"));
  testing::put(dir / "s-1.tar",
               tar_entry("2.jpg", jpeg) + tar_entry("2.cls", "2") + tar_entry("2.txt", "cat"));
  const std::string set = "train = \"s-{0..1}.tar\"\ninputs = { image = \"image\" }\n";
  const LoadedData numbers = load(set + "target = { kind = \"class\" }\n");
  EXPECT_EQ(numbers.data.train.data["kind"].int_at(1), 2);
  EXPECT_TRUE(numbers.classes.empty());
  const LoadedData texts = load(set + "target = { kind = \"txt\" }\nmemory = \"stream\"\n");
  EXPECT_EQ(texts.classes, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(data::load_all(texts.data.train.samples).data["kind"].int_at(0), 1);
  EXPECT_ERROR(
      load_other_streams(job(set + "target = { kind = \"txt\" }\n"), nn::TargetKind::classes,
                         {dir / "s-0.tar"}, {"cat", "dogs"}, true)
          ->samples->get(0, {}, std::vector<std::byte*>{std::vector<std::byte>(3 * 23 * 37).data(), nullptr}),
      "the class 'dog' was not trained on (did you mean 'dogs'?)");
  io::write_npy(dir / "x.npy", Array::of<float>({2}, {1, 2}));
  testing::put(dir / "n.tar", tar_entry("1.npy", content_of(dir / "x.npy")) + tar_entry("1.cls", "1"));
  EXPECT_EQ(load("train = \"n.tar\"\ninputs = { image = \"npy\" }\ntarget = { kind = \"cls\" }\n")
                .data.train.data["image"]
                .type_string(),
            "f32[1, 2]");
}

TEST_F(LoadStream, ShardsWithoutAMarkOfTheirEndAreSaid) {
  const std::string sample =
      tar_entry("1.png", content_of(fixture("images/tiny.png"))) + tar_entry("1.cls", "1");
  const std::string set = "inputs = { image = \"image\" }\ntarget = { kind = \"class\" }\n";
  testing::put(dir / "whole.tar", sample + testing::tar_end());
  EXPECT_TRUE(load("train = \"whole.tar\"\n" + set).notes.empty());
  testing::put(dir / "cut.tar", sample);
  const LoadedData cut = load("train = \"cut.tar\"\n" + set);
  ASSERT_EQ(cut.notes.size(), 1u);
  EXPECT_NE(cut.notes[0].find("cut.tar: has no end-of-archive blocks"), std::string::npos);
}

TEST_F(LoadStream, NpyFilesCanBeReadRowByRow) {
  Array x(DType::f32, {12, 2}), y(DType::i64, {12});
  for (std::int64_t i = 0; i < 24; ++i) x.set(i, static_cast<double>(i));
  for (std::int64_t i = 0; i < 12; ++i) y.set_int(i, i % 3);
  io::write_npy(dir / "x.npy", x);
  io::write_npy(dir / "y.npy", y);
  const std::string files = "inputs = { image = \"x.npy\" }\ntarget = { kind = \"y.npy\" }\n";
  EXPECT_FALSE(load(files).data.train.is_stream());
  const LoadedData d = load(files + "memory = \"stream\"\nvalidation = 0.25\n");
  EXPECT_EQ(d.data.train.count(), 9);
  EXPECT_TRUE(identical(data::load_all(d.data.train.samples).data["image"], x));
  EXPECT_TRUE(identical(data::load_all(d.data.train.samples).data["kind"], y));
  io::write_npy(dir / "y.npy", Array(DType::i64, {11}));
  EXPECT_ERROR(load(files + "memory = \"stream\"\n"), "field 'kind' has 11 rows, field 'image' has 12");
  testing::put(dir / "t.csv", "a,b\n1,2\n");
  EXPECT_ERROR(
      load("train = \"t.csv\"\nmemory = \"stream\"\ninputs = { image = \"a\" }\ntarget = { kind = \"b\" }\n"),
      "data.memory = \"stream\" is for a folder of images, tar shards and NPY files");
}

}  // namespace
}  // namespace tightloop::train
