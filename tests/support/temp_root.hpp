// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "sys/system.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

namespace peerpath::test {

/// A small root directory made for one test, gone at its end. Paths are absolute as seen from
/// inside it; directories on the way are made as needed. Anything that can't be made throws, so
/// that a test never runs on half a tree.
class TempRoot {
 public:
  TempRoot() {
    std::string name = std::filesystem::temp_directory_path() / "peerpath-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), name);
    }
    path_ = name;
  }
  ~TempRoot() {
    // A test may have taken the permissions away that removing needs.
    std::error_code error;
    for (auto entry = std::filesystem::recursive_directory_iterator(
             path_, std::filesystem::directory_options::skip_permission_denied, error);
         !error && entry != std::filesystem::recursive_directory_iterator();
         entry.increment(error)) {
      if (entry->is_symlink(error) || !entry->is_directory(error)) continue;
      std::filesystem::permissions(entry->path(), std::filesystem::perms::owner_all,
                                   std::filesystem::perm_options::add, error);
    }
    std::filesystem::remove_all(path_, error);
  }
  TempRoot(const TempRoot&) = delete;
  TempRoot& operator=(const TempRoot&) = delete;

  TempRoot& file(std::string_view path, std::string_view content, mode_t mode = 0644) {
    const auto target = make_parent(path);
    std::ofstream out(target, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    if (!out) throw std::runtime_error("can't write " + target);
    this->mode(path, mode);
    return *this;
  }
  /// `target` is what the link holds, whether it's there or not.
  TempRoot& link(std::string_view path, std::string_view target) {
    std::filesystem::create_symlink(target, make_parent(path));
    return *this;
  }
  TempRoot& directory(std::string_view path) {
    std::filesystem::create_directories(outside(path));
    return *this;
  }
  TempRoot& mode(std::string_view path, mode_t mode) {
    if (::chmod(outside(path).c_str(), mode) != 0) {
      throw std::system_error(errno, std::generic_category(), outside(path));
    }
    return *this;
  }
  TempRoot& remove(std::string_view path) {
    std::filesystem::remove_all(outside(path));
    return *this;
  }

  /// Opened at the first call.
  [[nodiscard]] System& system() {
    if (!system_) {
      auto opened = System::open(path_);
      if (!opened) throw std::runtime_error(opened.error().text());
      system_ = std::move(*opened);
    }
    return *system_;
  }
  /// The root's own path, as seen from outside.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Where a path inside the root is outside.
  [[nodiscard]] std::string outside(std::string_view path) const {
    return path_ + "/" + std::string(path);
  }

 private:
  [[nodiscard]] std::string make_parent(std::string_view path) const {
    const std::filesystem::path target = outside(path);
    std::filesystem::create_directories(target.parent_path());
    return target;
  }

  std::string path_;
  std::unique_ptr<System> system_;
};

}  // namespace peerpath::test
