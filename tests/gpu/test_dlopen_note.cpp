// SPDX-License-Identifier: GPL-2.0-or-later
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cstring>
#include <elf.h>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
T at(const std::string& bytes, std::size_t offset) {
  T value;
  REQUIRE(offset + sizeof value <= bytes.size());
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::size_t padded(std::size_t size) {
  return (size + 3) / 4 * 4;
}

/// The texts of the notes of that owner and type in the program's note segments.
std::vector<std::string> note_texts(const std::string& program, const std::string& owner,
                                    Elf64_Word type) {
  std::vector<std::string> found;
  const auto header = at<Elf64_Ehdr>(program, 0);
  REQUIRE(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0);
  REQUIRE(header.e_ident[EI_CLASS] == ELFCLASS64);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = at<Elf64_Phdr>(program, header.e_phoff + i * header.e_phentsize);
    // Segments aligned to 8 hold GNU properties and are padded differently.
    if (segment.p_type != PT_NOTE || segment.p_align > 4) continue;
    std::size_t offset = segment.p_offset;
    const std::size_t end = offset + segment.p_filesz;
    while (offset < end) {
      const auto note = at<Elf64_Nhdr>(program, offset);
      const auto name = program.substr(offset + sizeof note, note.n_namesz);
      const auto text = offset + sizeof note + padded(note.n_namesz);
      if (note.n_type == type && name == owner + '\0') {
        found.push_back(program.substr(text, note.n_descsz));
      }
      offset = text + padded(note.n_descsz);
    }
  }
  return found;
}

/// The libraries that the program's notes name, with their priorities.
std::map<std::string, std::string> noted_libraries(const char* program) {
  std::map<std::string, std::string> priorities;
  for (const auto& text : note_texts(read_file(program), "FDO", 0x407c0c0a)) {
    INFO(text);
    REQUIRE_FALSE(text.empty());
    CHECK(text.back() == '\0');
    const auto note = nlohmann::json::parse(text.c_str());
    REQUIRE(note.is_array());
    REQUIRE(note.size() == 1);
    CHECK(note[0].at("feature").is_string());
    CHECK(note[0].at("description").is_string());
    REQUIRE(note[0].at("soname").size() == 1);
    priorities[note[0].at("soname")[0]] = note[0].at("priority");
  }
  return priorities;
}

}  // namespace

TEST_CASE("peerpath program: its ELF notes → name the libraries that are loaded when wanted") {
  CHECK(noted_libraries(PEERPATH_BINARY) ==
        std::map<std::string, std::string>{{"libkmod.so.2", "required"},
                                           {"libnvidia-ml.so.1", "suggested"},
                                           {"libsystemd.so.0", "required"}});
}

#ifdef PEERPATH_WORKER
TEST_CASE("peerpath-p2p-worker program: its ELF note → names the CUDA driver, and no other does") {
  CHECK(noted_libraries(PEERPATH_WORKER).at("libcuda.so.1") == "suggested");
}
#endif
