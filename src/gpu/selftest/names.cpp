// SPDX-License-Identifier: GPL-2.0-or-later
// The names of what a self-test can say: in the protocol, in JSON, in the journal, in options.
#include "gpu/selftest/selftest.hpp"

#include <array>

namespace peerpath::gpu {
namespace {

constexpr auto test_names = std::to_array<std::string_view>(
    {"staged-copy", "ce-write", "ce-read", "sm-store", "sm-load", "ping-pong", "atomics",
     "concurrent", "bandwidth", "latency", "staged-copy-with-access"});
static_assert(test_names.size() == tests);
constexpr auto outcome_names = std::to_array<std::string_view>(
    {"passed", "corrupt", "hang", "error", "unsupported", "degraded", "inconclusive", "not-run"});
constexpr auto signature_names = std::to_array<std::string_view>(
    {"none", "mirror", "never-written", "zeros", "all-ones", "stale", "other-pair", "shifted",
     "few-bits", "overrun", "lost-atomic", "lost-flag", "other"});
constexpr auto verdict_names =
    std::to_array<std::string_view>({"corruption", "host-died", "hang", "error", "asymmetric",
                                     "unsupported", "degraded", "inconclusive", "passed"});
constexpr auto stage_names =
    std::to_array<std::string_view>({"alone", "measured", "concurrent", "fan-out"});
constexpr auto nearness_names =
    std::to_array<std::string_view>({"SELF", "NVL", "PIX", "PXB", "PHB", "SYS"});

template <class Enum, std::size_t size>
std::string_view name_in(const std::array<std::string_view, size>& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < size ? names[index] : "unknown";
}

template <class Enum, std::size_t size>
std::optional<Enum> value_in(const std::array<std::string_view, size>& names,
                             std::string_view name) {
  for (std::size_t i = 0; i < size; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Test test) {
  return name_in(test_names, test);
}
std::optional<Test> test_named(std::string_view name) {
  return value_in<Test>(test_names, name);
}
std::string_view name_of(Outcome outcome) {
  return name_in(outcome_names, outcome);
}
std::optional<Outcome> outcome_named(std::string_view name) {
  return value_in<Outcome>(outcome_names, name);
}
std::string_view name_of(Signature signature) {
  return name_in(signature_names, signature);
}
std::optional<Signature> signature_named(std::string_view name) {
  return value_in<Signature>(signature_names, name);
}
std::string_view name_of(Verdict verdict) {
  return name_in(verdict_names, verdict);
}
std::optional<Verdict> verdict_named(std::string_view name) {
  return value_in<Verdict>(verdict_names, name);
}
std::string_view name_of(Stage stage) {
  return name_in(stage_names, stage);
}
std::optional<Stage> stage_named(std::string_view name) {
  return value_in<Stage>(stage_names, name);
}
std::string_view name_of(Nearness nearness) {
  return name_in(nearness_names, nearness);
}

}  // namespace peerpath::gpu
