// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/data/images/reader.h>

#include <memory>
#include <string>
#include <vector>

namespace tightloop::data {

/// The images of a folder.
struct ImageFolder {
  std::string root;
  std::vector<std::string> classes = {};   ///< names of its folders, in the order of their bytes: 1, 10, 2
  std::vector<std::string> files = {};     ///< below the root; class by class, each in the order of bytes
  std::vector<std::int64_t> labels = {};   ///< of the files: class numbers; empty without classes
  std::vector<std::string> left_out = {};  ///< files of class folders whose names are not those of images
};

/// Lists a folder with one folder of images a class; images may lie in folders inside it. Files beside the
/// class folders, and what has a name that begins with '.', belong to no class. `known`: classes of a trained
/// model, which take the place of the folder's own; not all need be there. Throws Error naming a folder of no
/// known class, classes without images, and a folder without classes or images.
ImageFolder list_classes(const std::string& root, const std::vector<std::string>* known = nullptr);
/// Lists all images in the folder and those inside it, in the order of the bytes of their paths. Throws Error
/// when there are none.
ImageFolder list_images(const std::string& root);
/// Whether it is a folder with a folder in it that holds an image.
bool is_image_folder(const std::string& root);

/// The images as samples: fields `input` and, when the folder has classes, `target` (i64: the class).
std::shared_ptr<const Samples> image_samples(ImageFolder folder, ImageOptions options,
                                             const std::string& input, const std::string& target);

}  // namespace tightloop::data
