// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>

namespace peerpath::cli {

/// Replaces what identifies a machine or its people: UUIDs and other ids of file systems, machine
/// ids, MAC and IP addresses, serial numbers, names of hosts, iSCSI names, e-mail addresses,
/// passwords. Each value gets a random one of the same length and alphabet, and the same one
/// wherever it occurs, so that everything keeps its place and what belonged together still does.
/// The table of them is gone with the scrubber.
class Scrubber {
 public:
  enum class Alphabet { word, hexadecimal, address };

  /// A value that's to be replaced wherever it stands as a whole word, in capitals or not. One that
  /// says nothing about the machine ("localhost", "debian"), or that peerpath judges, is not.
  void learn(std::string_view value);
  /// A host's name: its labels, too. It stays where only the kernel's names and values are, in
  /// which it would be something else.
  void learn_host(std::string_view name);
  /// What's in a file whose name says that it's an id, and the names that a command line gives.
  void learn_from(std::string_view path, std::string_view content);

  /// With the names of hosts replaced, or not.
  [[nodiscard]] std::string text(std::string_view text, bool hosts = true);
  /// What a directory becomes doesn't depend on what's in it.
  [[nodiscard]] std::string path(std::string_view path);
  /// Bytes of a file from an offset on.
  [[nodiscard]] std::string content(std::string_view path, std::size_t offset,
                                    std::string_view bytes);

 private:
  static void learn(std::string_view value, std::set<std::string>& into);
  void learn_grub_users(std::string_view content);
  [[nodiscard]] std::size_t learned_at(std::string_view text, std::size_t at, bool hosts) const;
  [[nodiscard]] std::string replacement(std::string_view value, Alphabet alphabet);
  [[nodiscard]] std::string drawn(const std::string& value, Alphabet alphabet);

  std::random_device random_;
  std::set<std::string> learned_;  ///< in small letters
  std::set<std::string> hosts_;    ///< in small letters
  std::map<std::string, std::string> replacements_;
  std::set<std::string> drawn_;
};

}  // namespace peerpath::cli
