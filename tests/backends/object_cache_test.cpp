// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tightloop/backends/cpu/runtime/object_cache.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>

namespace fs = std::filesystem;
using namespace tightloop::backends::cpu;

namespace {

std::vector<char> object_of(const std::string& key, std::size_t size) {
  std::vector<char> object(size);
  for (std::size_t i = 0; i < size; ++i) object[i] = static_cast<char>(key[i % key.size()] + i);
  return object;
}

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

class ObjectCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::path(testing::TempDir()) / "object-cache-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override {
    std::error_code failed;
    fs::permissions(root_, fs::perms::owner_all, failed);
    fs::remove_all(root_);
  }
  fs::path folder() const { return root_ / "cache"; }
  std::vector<fs::path> files() const {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder())) paths.push_back(entry.path());
    return paths;
  }
  std::size_t total() const {
    std::size_t bytes = 0;
    for (const auto& path : files()) bytes += fs::file_size(path);
    return bytes;
  }
  static std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  fs::path root_;
};

TEST(ContentKey, IsXxh3Of128Bits) {
  EXPECT_EQ(content_key(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(content_key("a"), content_key("b"));
}

TEST_F(ObjectCacheTest, GivesBackWhatWasStored) {
  const ObjectCache cache(folder());
  EXPECT_TRUE(cache.usable());
  EXPECT_FALSE(cache.load("a"));
  for (const std::size_t size : {0, 1, 5000, 3000000}) {
    cache.store("a", object_of("a", size));
    EXPECT_EQ(cache.load("a"), object_of("a", size));
  }
  EXPECT_FALSE(cache.load("b"));
  EXPECT_EQ(ObjectCache(folder()).load("a"), object_of("a", 3000000));
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(ObjectCacheTest, AnyKeyWillDo) {
  const ObjectCache cache(folder());
  for (const std::string& key :
       {std::string("../../etc/passwd"), std::string("\0\n", 2), std::string(9000, 'k')}) {
    cache.store(key, object_of(key, 10));
    EXPECT_EQ(cache.load(key), object_of(key, 10));
  }
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(ObjectCacheTest, EveryDamagedByteIsSeen) {
  const ObjectCache cache(folder());
  cache.store("key", object_of("key", 100));
  const fs::path path = files().at(0);
  const std::string whole = bytes_of(path);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    write(path, damaged);
    EXPECT_FALSE(cache.load("key")) << "byte " << i;
    EXPECT_FALSE(fs::exists(path)) << "byte " << i;
  }
  write(path, whole);
  EXPECT_EQ(cache.load("key"), object_of("key", 100));
}

TEST_F(ObjectCacheTest, EveryLengthButTheRightOneIsSeen) {
  const ObjectCache cache(folder());
  cache.store("key", object_of("key", 100));
  const fs::path path = files().at(0);
  const std::string whole = bytes_of(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(path, whole.substr(0, size));
    EXPECT_FALSE(cache.load("key")) << size << " bytes";
    EXPECT_FALSE(fs::exists(path));
  }
  write(path, whole + '\0');
  EXPECT_FALSE(cache.load("key"));
  cache.store("key", object_of("key", 7));
  EXPECT_EQ(cache.load("key"), object_of("key", 7));
}

TEST_F(ObjectCacheTest, AnEntryOfAnotherKeyIsNotTaken) {
  const ObjectCache cache(folder());
  cache.store("one", object_of("one", 10));
  const fs::path one = files().at(0);
  const std::string bytes = bytes_of(one);
  cache.store("two", object_of("two", 10));
  for (const auto& path : files()) write(path, bytes);
  EXPECT_TRUE(cache.load("one"));
  EXPECT_FALSE(cache.load("two"));
}

TEST_F(ObjectCacheTest, OddThingsInPlaceOfAnEntry) {
  const ObjectCache cache(folder());
  cache.store("key", object_of("key", 10));
  const fs::path path = files().at(0);
  const std::string bytes = bytes_of(path);
  write(root_ / "elsewhere", bytes);
  fs::remove(path);
  fs::create_symlink(root_ / "elsewhere", path);
  EXPECT_FALSE(cache.load("key"));
  EXPECT_EQ(bytes_of(root_ / "elsewhere"), bytes);
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(cache.load("key"));
  fs::remove(path);
  fs::create_directories(path / "full");
  EXPECT_FALSE(cache.load("key"));
  cache.store("key", object_of("key", 10));
  EXPECT_FALSE(cache.load("key"));
}

TEST_F(ObjectCacheTest, StaysWithinItsBoundAndKeepsWhatIsUsed) {
  const std::size_t bound = 100000;
  const ObjectCache cache(folder(), bound);
  cache.store("used", object_of("used", 5000));
  write(folder() / "notes.txt", std::string(500, 'x'));
  for (int i = 0; i < 60; ++i) {
    cache.store("key " + std::to_string(i), object_of("k", 5000));
    EXPECT_LE(total(), bound + 500);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // file times are coarse
    EXPECT_TRUE(cache.load("used")) << i;
  }
  EXPECT_TRUE(cache.load("key 59"));
  EXPECT_FALSE(cache.load("key 0"));
  EXPECT_TRUE(fs::exists(folder() / "notes.txt"));
}

TEST_F(ObjectCacheTest, TrimsToFourFifths) {
  const ObjectCache cache(folder(), 100000);
  for (int i = 0; i < 20; ++i) cache.store(std::to_string(i), object_of("k", 5000));
  EXPECT_LE(total(), 80000u);
  EXPECT_GT(total(), 70000u);
}

TEST_F(ObjectCacheTest, AnObjectOverTheBoundIsNotStored) {
  const ObjectCache cache(folder(), 10000);
  cache.store("small", object_of("s", 1000));
  cache.store("large", object_of("l", 20000));
  EXPECT_FALSE(cache.load("large"));
  EXPECT_TRUE(cache.load("small"));
}

TEST_F(ObjectCacheTest, RemovesWhatDeadWritersLeft) {
  const ObjectCache cache(folder());
  const fs::path old = folder() / (content_key("x") + ".object.tmp-1-0");
  const fs::path fresh = folder() / (content_key("x") + ".object.tmp-1-1");
  write(old, "half");
  write(fresh, "half");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(1));
  cache.store("a", object_of("a", 10));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
}

int run_in_processes(int count, const std::function<bool(int)>& body) {
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body(i) ? 0 : 1);
    children.push_back(child);
  }
  int failures = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) ++failures;
  }
  return failures;
}

TEST_F(ObjectCacheTest, ManyProcessesAtOnce) {
  const std::size_t bound = 60000;
  const int failures = run_in_processes(8, [&](int process) {
    const ObjectCache cache(folder(), bound);
    int hits = 0;
    for (int i = 0; i < 150; ++i) {
      const std::string key = "key " + std::to_string((i * 7 + process) % 20);
      const auto object = cache.load(key);
      if (object && *object != object_of(key, 4000)) return false;
      if (object) ++hits;
      if (!object || i % 3 == 0) cache.store(key, object_of(key, 4000));
    }
    return hits > 0;
  });
  EXPECT_EQ(failures, 0);
  EXPECT_LE(total(), bound);
  for (const auto& path : files()) EXPECT_EQ(path.extension(), ".object") << path;
}

TEST_F(ObjectCacheTest, ManyThreadsAtOnce) {
  const ObjectCache cache(folder());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        cache.store("same", object_of("same", 3000));
        const auto object = cache.load("same");
        if (object != object_of("same", 3000)) ++wrong;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(ObjectCacheTest, WithoutAFolderItIsSilentlyNone) {
  write(root_ / "file", "");
  for (const fs::path& path :
       {fs::path(), root_ / "file", root_ / "file" / "below", fs::path("/proc/none")}) {
    const ObjectCache cache(path);
    EXPECT_FALSE(cache.usable()) << path;
    cache.store("a", object_of("a", 10));
    EXPECT_FALSE(cache.load("a"));
  }
}

TEST_F(ObjectCacheTest, AFolderThatVanishesOrCannotBeWritten) {
  const ObjectCache cache(folder());
  cache.store("a", object_of("a", 10));
  fs::permissions(folder(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(cache.load("a"), object_of("a", 10));
  cache.store("b", object_of("b", 10));
  fs::permissions(folder(), fs::perms::owner_all);
  fs::remove_all(folder());
  cache.store("a", object_of("a", 10));
  EXPECT_FALSE(cache.load("a"));
}

TEST_F(ObjectCacheTest, AFolderThatOthersMayWriteIsNotTrusted) {
  fs::create_directory(folder());
  fs::permissions(folder(), fs::perms::owner_all | fs::perms::others_write);
  EXPECT_FALSE(ObjectCache(folder()).usable());
  fs::permissions(folder(), fs::perms::owner_all);
  EXPECT_TRUE(ObjectCache(folder()).usable());
}

TEST_F(ObjectCacheTest, DefaultDirectory) {
  const std::string cache = root_ / "xdg", home = root_ / "home", temporary = root_ / "tmp";
  fs::create_directories(temporary);
  const Variable tmp("TMPDIR", temporary.c_str());
  const fs::path fallback = fs::path(temporary) / ("tightloop-" + std::to_string(::geteuid()));
  {
    const Variable xdg("XDG_CACHE_HOME", cache.c_str());
    EXPECT_EQ(ObjectCache::default_directory(), fs::path(cache) / "tightloop");
  }
  const Variable no_xdg("XDG_CACHE_HOME", "relative/is/ignored");
  {
    const Variable with_home("HOME", home.c_str());
    EXPECT_EQ(ObjectCache::default_directory(), fs::path(home) / ".cache" / "tightloop");
    EXPECT_EQ(fs::status(ObjectCache::default_directory()).permissions(), fs::perms::owner_all);
  }
  const Variable no_home("HOME", nullptr);
  EXPECT_EQ(ObjectCache::default_directory(), fallback);
  const Variable bad_home("HOME", "/proc");
  EXPECT_EQ(ObjectCache::default_directory(), fallback);
  EXPECT_TRUE(ObjectCache().usable());
}

}  // namespace
