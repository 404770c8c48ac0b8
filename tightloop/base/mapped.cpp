// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/mapped.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

namespace tightloop {

/// A mapped file. The handler reads what is atomic, everything else is under the lock.
struct Mapping {
  std::atomic<std::uintptr_t> begin{0};  ///< 0: free
  std::atomic<std::uintptr_t> end{0};
  mutable std::atomic<bool> cut{false};  ///< some of its pages were gone
  std::string path;
  struct stat status {};
};

namespace {

/// Never given back, so that the handler may walk them at any time.
struct Block {
  std::array<Mapping, 64> mappings;
  std::atomic<Block*> next{nullptr};
};

Block first_block;
std::mutex lock;
struct sigaction earlier {};

std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGE_SIZE));
  return size;
}

Mapping* mapping_at(std::uintptr_t address) {
  for (Block* b = &first_block; b != nullptr; b = b->next.load(std::memory_order_acquire))
    for (Mapping& m : b->mappings)
      if (address >= m.begin.load(std::memory_order_acquire) &&
          address < m.end.load(std::memory_order_acquire) && m.begin.load(std::memory_order_relaxed) != 0)
        return &m;
  return nullptr;
}

/// What lies behind the end of a file is gone up to the end of its mapping.
bool put_zeros(std::uintptr_t address) {
  const Mapping* m = mapping_at(address);
  if (m == nullptr) return false;
  const std::uintptr_t page = page_size(), from = address / page * page;
  const std::uintptr_t to = (m->end.load(std::memory_order_relaxed) + page - 1) / page * page;
  void* got = ::mmap(reinterpret_cast<void*>(from), to - from, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return false;
  m->cut.store(true, std::memory_order_release);
  return true;
}

void hand_on(int signal, siginfo_t* info, void* context) {
  if ((earlier.sa_flags & SA_SIGINFO) != 0) return earlier.sa_sigaction(signal, info, context);
  if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN) return earlier.sa_handler(signal);
  ::signal(signal, SIG_DFL);  // a fault comes again at once
  if (info->si_code <= 0) ::raise(signal);
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int code = errno;
  const bool fault = info->si_code == BUS_ADRERR;
  if (!fault || !put_zeros(reinterpret_cast<std::uintptr_t>(info->si_addr))) hand_on(signal, info, context);
  errno = code;
}

void set_handler() {
  page_size();
  struct sigaction own {};
  own.sa_sigaction = on_bus_error;
  own.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&own.sa_mask);
  ::sigaction(SIGBUS, &own, &earlier);
}

Mapping& free_mapping() {
  for (Block* b = &first_block;; b = b->next.load()) {
    for (Mapping& m : b->mappings)
      if (m.begin.load() == 0) return m;
    if (b->next.load() == nullptr) b->next.store(new Block(), std::memory_order_release);
  }
}

void enter(std::byte* data, std::size_t size, const std::string& path, const struct stat& status) {
  const std::lock_guard guard(lock);
  static const bool once = (set_handler(), true);
  (void)once;
  Mapping& m = free_mapping();
  m.path = path;
  m.status = status;
  m.cut = false;
  m.end = reinterpret_cast<std::uintptr_t>(data) + size;
  m.begin = reinterpret_cast<std::uintptr_t>(data);
}

void leave(const void* data) {
  const std::lock_guard guard(lock);
  Mapping* m = mapping_at(reinterpret_cast<std::uintptr_t>(data));
  if (m != nullptr) m->begin = 0, m->end = 0;
}

[[noreturn]] void changed(const Mapping& m, const struct stat* now) {
  std::string what = "a part of it could not be read";
  if (now != nullptr && now->st_size != m.status.st_size)
    what =
        "it had " + std::to_string(m.status.st_size) + " bytes and now has " + std::to_string(now->st_size);
  else if (now != nullptr && !m.cut)
    what = "it was written to";
  throw Error("'" + m.path + "' changed while it was read: " + what + "; start again when it is complete");
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool same_content(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

void look_at(const Mapping& m) {
  struct stat now {};
  const bool there = ::stat(m.path.c_str(), &now) == 0 && same_file(m.status, now);
  if (m.cut.load(std::memory_order_acquire)) changed(m, there ? &now : nullptr);
  if (there && !same_content(m.status, now)) changed(m, &now);
}

}  // namespace

std::optional<Bytes> map_descriptor(int descriptor, std::size_t size, const std::string& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return std::nullopt;
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
  if (data == MAP_FAILED) return std::nullopt;
  auto owner = std::shared_ptr<const void>(data, [size](const void* p) {
    leave(p);
    ::munmap(const_cast<void*>(p), size);
  });
  enter(static_cast<std::byte*>(data), size, path, status);
  return Bytes(static_cast<std::byte*>(data), size, std::move(owner));
}

void MappedFiles::add(const void* address) {
  const Mapping* m = mapping_at(reinterpret_cast<std::uintptr_t>(address));
  if (m != nullptr && std::find(files_.begin(), files_.end(), m) == files_.end()) files_.push_back(m);
}

void MappedFiles::check(bool at_once) {
  if (files_.empty()) return;
  for (const Mapping* m : files_)
    if (m->cut.load(std::memory_order_acquire)) look_at(*m);
  const auto now = std::chrono::steady_clock::now();
  if (!at_once && now - looked_ < std::chrono::milliseconds(200)) return;
  looked_ = now;
  for (const Mapping* m : files_) look_at(*m);
}

void check_unchanged(const Bytes& bytes) {
  MappedFiles files;
  files.add(bytes.data());
  files.check(true);
}

}  // namespace tightloop
