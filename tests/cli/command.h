// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tests/support/places.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace tightloop::cli {

/// A folder of the test's own, taken away at its end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tightloop-cli-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~Folder() {
    std::error_code ec;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ec);
    std::filesystem::remove_all(path_, ec);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool has(const std::string& name) const { return std::filesystem::exists(path_ / name); }

 private:
  std::filesystem::path path_;
};

struct Outcome {
  int status = -1;
  std::string out;  ///< both streams
};

/// Runs the built command in `folder`; the code it compiles is cached there too.
inline Outcome tightloop(const Folder& folder, const std::string& arguments) {
  const std::string command = "cd " + folder.path() + " && XDG_CACHE_HOME=" + folder.path() + "/cache " +
                              places::command() + " " + arguments + " 2>&1 </dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  Outcome outcome;
  char buffer[4096];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) outcome.out.append(buffer, n);
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

/// 60 rows: x0, x1, f and y = x0 - 2·x1 + 3·f; label is 0, 1 or 2, kind its name.
inline std::string table(int rows = 60) {
  std::string text = "x0,x1,f,y,label,kind\n";
  const char* kinds[] = {"cat", "dog", "eel"};
  for (int i = 0; i < rows; ++i) {
    const double a = (i * 37 % 41) / 20.0 - 1, b = (i * 17 % 29) / 14.0 - 1, f = (i * 11 % 23) / 11.0 - 1;
    text += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(f) + "," +
            std::to_string(a - 2 * b + 3 * f) + "," + std::to_string(i % 3) + "," + kinds[i % 3] + "\n";
  }
  return text;
}

inline const char* const kJob = R"(seed = 1
[data]
train = "train.csv"
inputs = { x = "x*", f = "f" }
target = { y = "y" }
validation = 0.25
batch = 8
[model]
parameters = { par = [1] }
forward = """
y = linear(x, 1, name="lin") + par * f
"""
[train]
epochs = 5
loss = "mse"
optimizer = { name = "adam", lr = 0.05 }
metrics = ["mae"]
[output]
directory = "run"
)";

inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("no '" + from + "' in the job");
  return text.replace(at, from.size(), to);
}

}  // namespace tightloop::cli
