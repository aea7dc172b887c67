// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <sys/stat.h>

namespace sim {
namespace {

const std::set<std::string> kinds{
    "zeros",   "never-written", "stale",   "mirror",      "all-ones",   "other-pair",
    "shifted", "few-bits",      "overrun", "lost-atomic", "lost-flag",  "hang",
    "error",   "slow",          "fast",    "abort",       "host-fault", "not-run"};
const std::set<std::string> operations{"ce-write", "ce-read", "sm-store",
                                       "sm-load",  "atomics", "flag"};

double number(const std::string& text) {
  std::size_t used = 0;
  double value = -1;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = text.size() + 1;
  }
  if (used != text.size() || !(value >= 0))
    throw std::runtime_error("not a number: '" + text + "'");
  return value;
}

struct Line {
  Config& config;
  std::vector<std::string> words;
  std::string text;

  [[nodiscard]] const std::string& at(std::size_t i) const {
    if (i >= words.size()) throw std::runtime_error("a word is missing");
    return words[i];
  }
  void exactly(std::size_t count) const {
    if (words.size() != count) throw std::runtime_error("wrong number of words");
  }
  [[nodiscard]] std::size_t node(const std::string& name) const {
    auto found = std::find(config.nodes.begin(), config.nodes.end(), name);
    if (found == config.nodes.end()) throw std::runtime_error("unknown node '" + name + "'");
    return static_cast<std::size_t>(found - config.nodes.begin());
  }
  [[nodiscard]] int gpu(const std::string& name) const {
    for (std::size_t i = 0; i < config.gpus.size(); ++i)
      if (config.gpus[i].id == name) return static_cast<int>(i);
    throw std::runtime_error("unknown GPU '" + name + "'");
  }
  std::size_t add_node(const std::string& name) const {
    if (std::count(config.nodes.begin(), config.nodes.end(), name) != 0)
      throw std::runtime_error("'" + name + "' comes twice");
    config.nodes.push_back(name);
    return config.nodes.size() - 1;
  }
};

std::pair<std::string, std::string> option(const std::string& word) {
  const auto equals = word.find('=');
  if (equals == std::string::npos) throw std::runtime_error("not KEY=VALUE: '" + word + "'");
  return {word.substr(0, equals), word.substr(equals + 1)};
}

void read_gpu(Line& line) {
  SimGpu gpu;
  gpu.id = line.at(1);
  gpu.bdf = line.at(2);
  gpu.node = line.add_node(gpu.id);
  gpu.uuid = std::string(30, 'a') + (line.config.gpus.size() < 16 ? "0" : "1") +
             "0123456789abcdef"[line.config.gpus.size() % 16];
  for (std::size_t i = 3; i < line.words.size(); ++i) {
    const auto [key, value] = option(line.words[i]);
    if (key == "memory")
      gpu.memory = static_cast<std::uint64_t>(number(value));
    else if (key == "capability")
      gpu.capability = static_cast<int>(number(value));
    else if (key == "uuid" && value.size() == 32 &&
             value.find_first_not_of("0123456789abcdef") == std::string::npos)
      gpu.uuid = value;
    else if (key == "mode" && (value == "exclusive" || value == "prohibited"))
      gpu.mode = value == "exclusive" ? 3 : 2;
    else if (key == "name") {  // the rest of the line
      gpu.name = line.text.substr(line.text.find("name=") + 5);
      break;
    } else
      throw std::runtime_error("'" + line.words[i] + "' is not known");
  }
  line.config.gpus.push_back(gpu);
}

void read_knob(Line& line) {
  Knob knob;
  knob.kind = line.at(1);
  if (!kinds.contains(knob.kind)) throw std::runtime_error("unknown knob '" + knob.kind + "'");
  for (std::size_t i = 2; i < line.words.size(); ++i) {
    const auto [key, value] = option(line.words[i]);
    if (key == "from")
      knob.from = line.gpu(value);
    else if (key == "to")
      knob.to = line.gpu(value);
    else if (key == "op" && operations.contains(value))
      knob.op = value;
    else if (key == "min-bytes")
      knob.min_bytes = static_cast<std::uint64_t>(number(value));
    else if (key == "max-bytes")
      knob.max_bytes = static_cast<std::uint64_t>(number(value));
    else if (key == "when" && value == "concurrent")
      knob.concurrent = true;
    else if (key == "after" && number(value) > 0)
      knob.after = static_cast<std::uint64_t>(number(value));
    else if (key == "times" && number(value) > 0)
      knob.times = static_cast<std::uint64_t>(number(value));
    else if (key == "factor" && number(value) > 0)
      knob.factor = number(value);
    else if (key == "code" && number(value) > 0)
      knob.code = static_cast<unsigned>(number(value));
    else
      throw std::runtime_error("'" + line.words[i] + "' is not known");
  }
  line.config.knobs.push_back(knob);
}

void read_line(Line& line) {
  const std::string& what = line.words[0];
  Config& config = line.config;
  if (what == "driver") {
    line.exactly(2);
    config.driver = static_cast<int>(number(line.at(1)));
  } else if (what == "node") {
    line.exactly(2);
    line.add_node(line.at(1));
  } else if (what == "gpu")
    read_gpu(line);
  else if (what == "link" || what == "nvlink") {
    line.exactly(5);
    const SimLink link{line.node(line.at(1)), line.node(line.at(2)), number(line.at(3)),
                       number(line.at(4)), what == "nvlink"};
    if (link.bytes_per_second == 0) throw std::runtime_error("a link without bandwidth");
    config.links.push_back(link);
  } else if (what == "no-access" || what == "no-atomics") {
    line.exactly(3);
    (what == "no-access" ? config.no_access : config.no_atomics)
        .emplace_back(line.gpu(line.at(1)), line.gpu(line.at(2)));
  } else if (what == "init") {
    config.init_code = static_cast<unsigned>(number(line.at(1)));
    if (line.words.size() > 2) {
      const auto [key, value] = option(line.at(2));
      if (key != "seconds") throw std::runtime_error("'" + key + "' is not known");
      config.init_seconds = number(value);
    }
  } else if (what == "knob")
    read_knob(line);
  else
    throw std::runtime_error("unknown statement '" + what + "'");
}

}  // namespace

Config read_config() {
  Config config;
  const char* named = std::getenv("PEERPATH_SIM_CUDA");
  config.path = named != nullptr ? named : "/etc/peerpath-sim-cuda.conf";
  std::ifstream file(config.path);
  struct stat status {};
  if (!file || stat(config.path.c_str(), &status) != 0) {
    config.error = config.path + ":0: can't be read";
    return config;
  }
  config.modified = status.st_mtime;
  std::string text;
  for (int count = 1; std::getline(file, text); ++count) {
    Line line{config, {}, text.substr(0, text.find('#'))};
    std::istringstream words(line.text);
    for (std::string word; words >> word;)
      line.words.push_back(word);
    if (line.words.empty()) continue;
    try {
      read_line(line);
    } catch (const std::runtime_error& error) {
      config.error = config.path + ":" + std::to_string(count) + ": " + error.what();
      return config;
    }
  }
  return config;
}

// The way with the fewest links; an NVLink between the two themselves comes first.
Way Config::way(int from, int to) const {
  if (from == to) return {};
  const std::size_t start = gpus[static_cast<std::size_t>(from)].node;
  const std::size_t end = gpus[static_cast<std::size_t>(to)].node;
  std::map<std::size_t, Way> reached{{start, {1e15, 0, true, false}}};
  for (const SimLink& link : links)
    if (link.nvlink && ((link.a == start && link.b == end) || (link.b == start && link.a == end)))
      return {link.bytes_per_second, link.ns, true, true};
  std::vector<std::size_t> front{start};
  while (!front.empty() && !reached.contains(end)) {
    std::vector<std::size_t> next;
    for (const std::size_t node : front)
      for (const SimLink& link : links) {
        if (link.nvlink || (link.a != node && link.b != node)) continue;
        const std::size_t other = link.a == node ? link.b : link.a;
        const Way& so_far = reached[node];
        if (reached.contains(other)) continue;
        reached[other] = {std::min(so_far.bytes_per_second, link.bytes_per_second),
                          so_far.ns + link.ns, true, false};
        next.push_back(other);
      }
    front = next;
  }
  return reached.contains(end) ? reached[end] : Way{1e9, 10'000, false, false};
}

}  // namespace sim
