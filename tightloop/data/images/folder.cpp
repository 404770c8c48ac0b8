// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/file.h>
#include <tightloop/data/columns.h>
#include <tightloop/data/images/folder.h>
#include <tightloop/data/images/formats.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tightloop::data {
namespace {

namespace fs = std::filesystem;

bool hidden(const fs::path& p) { return p.filename().native().starts_with('.'); }

fs::directory_iterator open_folder(const fs::path& path) {
  std::error_code ec;
  fs::directory_iterator it(path, ec);
  if (ec) throw Error(path.string() + ": the folder cannot be read: " + ec.message());
  return it;
}

/// Names below `root` of the folders in it.
std::vector<std::string> folders_in(const std::string& root) {
  std::vector<std::string> out;
  for (const auto& entry : open_folder(root))
    if (!hidden(entry.path()) && entry.is_directory()) out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

/// Images below root/folder, at any depth, and what else lies there.
void collect(const std::string& root, const std::string& folder, std::vector<std::string>& images,
             std::vector<std::string>& others) {
  for (const auto& entry : open_folder(fs::path(root) / folder)) {
    if (hidden(entry.path())) continue;
    std::string name = (fs::path(folder) / entry.path().filename()).string();
    std::error_code ec;
    if (entry.is_directory(ec))
      collect(root, name, images, others);
    else
      (has_image_suffix(name) ? images : others).push_back(std::move(name));
  }
}

std::int64_t label_of(const std::string& name, const std::vector<std::string>& classes,
                      const std::string& root) {
  const auto found = std::lower_bound(classes.begin(), classes.end(), name);
  if (found != classes.end() && *found == name) return found - classes.begin();
  throw Error(root + ": the folder '" + name + "' is no class that was trained on" +
              suggestion(name, classes) + "; there are " + name_list(classes));
}

/// Reads a whole file into `bytes`, whose memory is used again.
void read_into(const std::string& path, std::vector<std::byte>& bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw Error(path + ": cannot be read: " + std::strerror(errno));
  struct stat status {};
  bytes.resize(::fstat(file, &status) == 0 && status.st_size > 0 ? static_cast<std::size_t>(status.st_size)
                                                                 : 0);
  std::size_t at = 0;
  ssize_t got = 0;
  while (at < bytes.size() && (got = ::read(file, bytes.data() + at, bytes.size() - at)) > 0)
    at += static_cast<std::size_t>(got);
  const int code = errno;
  ::close(file);
  if (got < 0) throw Error(path + ": cannot be read: " + std::strerror(code));
  bytes.resize(at);
}

class FolderSamples final : public Samples {
 public:
  FolderSamples(ImageFolder folder, ImageOptions options, const std::string& input, const std::string& target)
      : folder_(std::move(folder)), reader_(reader_for(options)) {
    fields_.push_back({input, reader_.options().dtype, reader_.dims()});
    if (!folder_.labels.empty()) fields_.push_back({target, DType::i64, {}});
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(folder_.files.size()); }
  const std::vector<SampleField>& fields() const override { return fields_; }
  void get(std::int64_t i, const SampleKey& key, std::span<std::byte* const> out) const override {
    thread_local std::vector<std::byte> bytes;
    const std::string path = name(i);
    read_into(path, bytes);
    reader_.read(bytes, path, key, i, out[0]);
    if (out.size() > 1)
      std::memcpy(out[1], &folder_.labels[static_cast<std::size_t>(i)], sizeof(std::int64_t));
  }
  std::string name(std::int64_t i) const override {
    return folder_.root + "/" + folder_.files[static_cast<std::size_t>(i)];
  }
  std::vector<std::int64_t> labels() const override { return folder_.labels; }

 private:
  /// The first image that can be read shows the size; what is wrong with those before it is said where they
  /// are made.
  ImageReader reader_for(const ImageOptions& options) const {
    std::vector<std::byte> bytes;
    std::string wrong;
    for (std::int64_t i = 0; i < size(); ++i) {
      try {
        read_into(name(i), bytes);
        return ImageReader(options, bytes, name(i));
      } catch (const Error& e) {
        if (wrong.empty()) wrong = e.what();
      }
    }
    throw Error(wrong);
  }

  ImageFolder folder_;
  ImageReader reader_;
  std::vector<SampleField> fields_;
};

}  // namespace

ImageFolder list_classes(const std::string& root, const std::vector<std::string>* known) {
  ImageFolder out{root};
  const std::vector<std::string> folders = folders_in(root);
  if (folders.empty()) throw Error(root + ": has no folders; images lie in one folder a class");
  out.classes = known != nullptr ? *known : folders;
  std::vector<std::string> empty;
  for (const std::string& folder : folders) {
    const std::int64_t label = label_of(folder, out.classes, root);
    std::vector<std::string> images;
    collect(root, folder, images, out.left_out);
    std::sort(images.begin(), images.end());
    if (images.empty()) empty.push_back(folder);
    out.labels.insert(out.labels.end(), images.size(), label);
    std::move(images.begin(), images.end(), std::back_inserter(out.files));
  }
  if (!empty.empty() && known == nullptr)
    throw Error(root + ": no images in the folder" + (empty.size() > 1 ? "s " : " ") + name_list(empty) +
                "; each folder is a class: fill it or take it away");
  if (out.files.empty()) throw Error(root + ": has no images");
  std::sort(out.left_out.begin(), out.left_out.end());
  return out;
}

ImageFolder list_images(const std::string& root) {
  ImageFolder out{root};
  collect(root, "", out.files, out.left_out);
  if (out.files.empty()) throw Error(root + ": has no images");
  std::sort(out.files.begin(), out.files.end());
  std::sort(out.left_out.begin(), out.left_out.end());
  return out;
}

bool is_image_folder(const std::string& root) {
  std::error_code ec;
  if (!fs::is_directory(root, ec)) return false;
  for (const std::string& folder : folders_in(root))
    for (const auto& entry : open_folder(fs::path(root) / folder))
      if (has_image_suffix(entry.path().filename().native())) return true;
  return false;
}

std::shared_ptr<const Samples> image_samples(ImageFolder folder, ImageOptions options,
                                             const std::string& input, const std::string& target) {
  return std::make_shared<FolderSamples>(std::move(folder), std::move(options), input, target);
}

}  // namespace tightloop::data
