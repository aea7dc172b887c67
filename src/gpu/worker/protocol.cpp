// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/worker/protocol.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace peerpath::gpu {
namespace {

/// A text as one field of one line.
std::string field(std::string_view text) {
  std::string safe(text);
  std::replace_if(
      safe.begin(), safe.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return safe;
}

/// A line's fields, taken one after the other. What doesn't fit, spoils the whole.
class Fields {
 public:
  explicit Fields(std::string_view line) : line_(line), fields_(split(line, '\t')) {}

  std::string_view text() {
    if (next_ == fields_.size()) {
      is_good_ = false;
      return {};
    }
    return fields_[next_++];
  }
  template <class Number>
  void number(Number& value) {
    const auto read = parse_number(text());
    if (!read || *read > static_cast<std::uint64_t>(std::numeric_limits<Number>::max())) {
      is_good_ = false;
    } else {
      value = static_cast<Number>(*read);
    }
  }
  void flag(bool& value) {
    unsigned number = 0;
    this->number(number);
    if (number > 1) is_good_ = false;
    value = number == 1;
  }
  void real(double& value) {
    const auto digits = text();
    double read = 0;
    const auto* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, read);
    if (error != std::errc() || stop != end || !std::isfinite(read) || read < 0) is_good_ = false;
    value = read;
  }
  template <class Enum>
  void name(Enum& value, std::optional<Enum> (*named)(std::string_view)) {
    if (const auto found = named(text()); found) {
      value = *found;
    } else {
      is_good_ = false;
    }
  }
  void index(std::uint8_t& value) {
    number(value);
    if (value >= 64) is_good_ = false;
  }

  /// The message, where all fields were taken and each was good.
  template <class Value>
  Result<Message> whole(Value value) {
    if (!is_whole()) return bad();
    return Message(std::move(value));
  }
  [[nodiscard]] bool is_whole() const { return is_good_ && next_ == fields_.size(); }
  [[nodiscard]] tl::unexpected<Error> bad() const {
    return fail(Errc::malformed,
                fmt::format("not a line of the worker's: '{}'", printable(line_.substr(0, 200))));
  }

 private:
  std::string_view line_;
  std::vector<std::string_view> fields_;
  std::size_t next_ = 0;
  bool is_good_ = true;
};

void read_test(Fields& fields, std::uint8_t& source, std::uint8_t& destination, Test& test) {
  fields.index(source);
  fields.index(destination);
  fields.name(test, test_named);
}

Gpu read_gpu(Fields& fields) {
  Gpu gpu;
  fields.number(gpu.ordinal);
  gpu.uuid = fields.text();
  gpu.bdf = fields.text();
  gpu.name = fields.text();
  fields.number(gpu.memory);
  fields.number(gpu.free_memory);
  fields.number(gpu.compute_capability);
  fields.flag(gpu.exclusive);
  fields.flag(gpu.prohibited);
  return gpu;
}

std::string gpu_fields(const Gpu& gpu) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:d}\t{:d}", gpu.ordinal, field(gpu.uuid),
                     field(gpu.bdf), field(gpu.name), gpu.memory, gpu.free_memory,
                     gpu.compute_capability, gpu.exclusive, gpu.prohibited);
}

PeerAttributes read_peer(Fields& fields) {
  PeerAttributes peer;
  fields.number(peer.source);
  fields.number(peer.destination);
  fields.flag(peer.access);
  fields.flag(peer.native_atomics);
  fields.number(peer.performance_rank);
  return peer;
}

Finished read_finished(Fields& fields) {
  Finished finished;
  auto& result = finished.result;
  read_test(fields, finished.source, finished.destination, result.test);
  fields.number(result.bytes);
  fields.flag(result.reused);
  fields.name(result.outcome, outcome_named);
  fields.name(result.signature, signature_named);
  fields.number(result.bad_words);
  fields.number(result.first_bad);
  fields.number(result.last_bad);
  fields.number(result.bad_pages);
  fields.number(result.code);
  fields.real(result.bytes_per_second);
  fields.real(result.nanoseconds);
  result.detail = fields.text();
  return finished;
}

struct Encoder {
  std::string operator()(const Begin& begin) const {
    return fmt::format("begin\t{}\t{}\t{}\t{}", begin.source, begin.destination,
                       name_of(begin.test), begin.bytes);
  }
  std::string operator()(const Beat& /*beat*/) const { return "beat"; }
  std::string operator()(const Finished& finished) const {
    const auto& r = finished.result;
    return fmt::format(
        "result\t{}\t{}\t{}\t{}\t{:d}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.9g}\t{:.9g}\t{}",
        finished.source, finished.destination, name_of(r.test), r.bytes, r.reused,
        name_of(r.outcome), name_of(r.signature), r.bad_words, r.first_bad, r.last_bad, r.bad_pages,
        r.code, r.bytes_per_second, r.nanoseconds, field(r.detail));
  }
  std::string operator()(const Note& note) const { return "note\t" + field(note.text); }
  std::string operator()(const Done& done) const { return fmt::format("done\t{}", done.said); }
  std::string operator()(const Failed& failed) const {
    return fmt::format("failed\t{}\t{}\t{}", failed.code, field(failed.call), field(failed.text));
  }
  std::string operator()(const DriverVersion& driver) const {
    return fmt::format("driver\t{}", driver.version);
  }
  std::string operator()(const Gpu& gpu) const { return "gpu\t" + gpu_fields(gpu); }
  std::string operator()(const PeerAttributes& peer) const {
    return fmt::format("peer\t{}\t{}\t{:d}\t{:d}\t{}", peer.source, peer.destination, peer.access,
                       peer.native_atomics, peer.performance_rank);
  }
};

template <class Values, class Text>
std::string comma_list(const Values& values, Text text) {
  std::vector<std::string> parts;
  for (const auto& value : values)
    parts.push_back(text(value));
  return join(parts, ",");
}

void read_tests(Fields& fields, std::vector<Test>& tests) {
  for (const auto name : split(fields.text(), ',')) {
    Fields one(name);
    Test test = Test::staged_copy;
    one.name(test, test_named);
    if (one.is_whole()) tests.push_back(test);
  }
}

void read_sizes(Fields& fields, std::vector<std::uint64_t>& sizes) {
  for (const auto digits : split(fields.text(), ',')) {
    if (const auto size = parse_number(digits); size) sizes.push_back(*size);
  }
}

bool read_job_field(std::string_view name, Fields& fields, Job& job) {
  if (name == "job") {
    const auto kind = fields.text();
    job.kind = kind == "list" ? Job::Kind::list : Job::Kind::pair;
    return fields.is_whole() && (kind == "list" || kind == "pair");
  }
  if (name == "nonce")
    fields.number(job.nonce);
  else if (name == "first")
    job.first = read_gpu(fields);
  else if (name == "second")
    job.second = read_gpu(fields);
  else if (name == "first-index")
    fields.index(job.first_index);
  else if (name == "second-index")
    fields.index(job.second_index);
  else if (name == "both-directions")
    fields.flag(job.both_directions);
  else if (name == "loopback")
    fields.flag(job.loopback);
  else if (name == "tests")
    read_tests(fields, job.tests);
  else if (name == "sizes")
    read_sizes(fields, job.sizes);
  else if (name == "measured-bytes")
    fields.number(job.measured_bytes);
  else if (name == "measured-ms")
    fields.number(job.measured_ms);
  else if (name == "kernel-limit-ms")
    fields.number(job.kernel_limit_ms);
  else if (name == "not-ready-ms")
    fields.number(job.not_ready_ms);
  else
    return false;
  return fields.is_whole();
}

}  // namespace

std::string encode(const Job& job) {
  std::string text = fmt::format("job\t{}\n", job.kind == Job::Kind::list ? "list" : "pair");
  text += fmt::format("not-ready-ms\t{}\n", job.not_ready_ms);
  if (job.kind == Job::Kind::pair) {
    text += fmt::format("nonce\t{}\nfirst\t{}\nsecond\t{}\n", job.nonce, gpu_fields(job.first),
                        gpu_fields(job.second));
    text +=
        fmt::format("first-index\t{}\nsecond-index\t{}\nboth-directions\t{:d}\nloopback\t{:d}\n",
                    job.first_index, job.second_index, job.both_directions, job.loopback);
    text += fmt::format(
        "tests\t{}\nsizes\t{}\n",
        comma_list(job.tests, [](Test test) { return std::string(name_of(test)); }),
        comma_list(job.sizes, [](std::uint64_t size) { return fmt::format("{}", size); }));
    text += fmt::format("measured-bytes\t{}\nmeasured-ms\t{}\nkernel-limit-ms\t{}\n",
                        job.measured_bytes, job.measured_ms, job.kernel_limit_ms);
  }
  return text + "run\n";
}

Result<Job> decode_job(const std::vector<std::string>& lines) {
  Job job;
  for (const auto& line : lines) {
    Fields fields(line);
    const auto name = fields.text();
    if (!read_job_field(name, fields, job)) {
      return fail(Errc::malformed, fmt::format("not a line of a job: '{}'", printable(line)));
    }
  }
  return job;
}

bool is_counted(const Message& message) {
  return std::holds_alternative<Gpu>(message) || std::holds_alternative<PeerAttributes>(message) ||
         std::holds_alternative<Finished>(message);
}

std::string encode(const Message& message) {
  return std::visit(Encoder(), message) + '\n';
}

Result<Message> decode_message(std::string_view line) {
  Fields fields(line);
  const auto kind = fields.text();
  if (kind == "beat") return fields.whole(Beat{});
  if (kind == "done") {
    Done done;
    fields.number(done.said);
    return fields.whole(done);
  }
  if (kind == "begin") {
    Begin begin;
    read_test(fields, begin.source, begin.destination, begin.test);
    fields.number(begin.bytes);
    return fields.whole(begin);
  }
  if (kind == "result") return fields.whole(read_finished(fields));
  if (kind == "note") return fields.whole(Note{std::string(fields.text())});
  if (kind == "gpu") return fields.whole(read_gpu(fields));
  if (kind == "peer") return fields.whole(read_peer(fields));
  if (kind == "driver") {
    DriverVersion driver;
    fields.number(driver.version);
    return fields.whole(driver);
  }
  if (kind == "failed") {
    Failed failed;
    fields.number(failed.code);
    failed.call = fields.text();
    failed.text = fields.text();
    return fields.whole(std::move(failed));
  }
  return fields.bad();
}

}  // namespace peerpath::gpu
