// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/selftest/crew.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <poll.h>
#include <sys/wait.h>
#include <thread>

namespace peerpath::gpu {
namespace {

constexpr std::chrono::milliseconds tick{20};

std::string with_errors(std::string reason, const WorkerProcess& process) {
  if (const auto last = process.last_errors(); !last.empty()) reason += ": " + last;
  return reason;
}

}  // namespace

Crew::Crew(std::string worker, Limits limits, Callbacks callbacks)
    : worker_(std::move(worker)), limits_(limits), callbacks_(std::move(callbacks)) {}

void Crew::run(bool together) {
  for (;;) {
    while (Clock::now() < limits_.deadline) {
      const auto job = callbacks_.next();
      if (!job) break;
      start(job->first, job->second);
    }
    if (members_.empty()) return;
    answer(together);
    wait();
    std::vector<std::pair<Id, WorkerEnd>> ends;
    for (auto& member : members_) {
      hear(member);
      check_time(member);
      if (auto end = end_of(member)) ends.emplace_back(member.id, std::move(*end));
    }
    for (const auto& [id, end] : ends) {
      std::erase_if(members_, [id = id](const Member& member) { return member.id == id; });
      callbacks_.ended(id, end);
    }
  }
}

void Crew::start(Id id, const Job& job) {
  auto process = WorkerProcess::start(worker_, callbacks_.has_ended);
  if (!process) {
    end_unstarted(id, process.error().text());
    return;
  }
  // One that doesn't take it will end, or be silent: that is seen in its turn.
  (void)process->send(encode(job));
  members_.push_back({id, std::move(*process), Clock::now(), {}, {}, 0, false, false, {}, {}, {}});
}

void Crew::end_unstarted(Id id, const std::string& reason) const {
  WorkerEnd end;
  end.kind = WorkerEnd::Kind::not_started;
  end.reason = "the worker could not be started: " + reason;
  callbacks_.ended(id, end);
}

void Crew::answer(bool together) {
  const auto is_ready = [](const Member& member) {
    return member.killed || member.is_done || member.failed ||
           (member.asked && member.asked->test == Test::concurrent);
  };
  const bool all_ready = std::all_of(members_.begin(), members_.end(), is_ready);
  std::vector<Member*> asking;
  for (auto& member : members_) {
    if (!member.asked || member.killed) continue;
    const bool is_held = together && member.asked->test == Test::concurrent && !all_ready;
    if (!is_held) asking.push_back(&member);
  }
  for (auto* member : asking) {
    std::vector<std::pair<Id, Begin>> all;
    for (const auto& other : members_) {
      if (other.running) all.emplace_back(other.id, *other.running);
    }
    all.emplace_back(member->id, *member->asked);
    const bool may = callbacks_.may_begin(all, member->id);
    if (may) member->running = member->asked;
    member->asked.reset();
    member->heard = Clock::now();
    (void)member->process.send(may ? "go\n" : "skip\n");
  }
}

void Crew::wait() {
  std::vector<pollfd> watched;
  for (const auto& member : members_) {
    for (const int fd : {member.process.output(), member.process.errors()}) {
      if (fd >= 0) watched.push_back({fd, POLLIN, 0});
    }
  }
  if (watched.empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return;
  }
  ::poll(watched.data(), watched.size(), static_cast<int>(tick.count()));
}

void Crew::hear(Member& member) {
  member.process.read_errors();
  for (const auto& line : member.process.read_lines()) {
    // What isn't a message is a driver's that prints: no sign of life, or chatter had no end.
    if (const auto message = decode_message(line); message) take(member, *message);
  }
}

void Crew::take(Member& member, const Message& message) const {
  if (member.killed) return;
  member.heard = Clock::now();
  if (const auto* begin = std::get_if<Begin>(&message)) {
    member.asked = *begin;
    member.running.reset();
  } else if (const auto* failed = std::get_if<Failed>(&message)) {
    member.failed = *failed;
  } else if (const auto* done = std::get_if<Done>(&message)) {
    member.is_done = true;
    member.has_lost = done->said != member.said;
    member.running.reset();
  } else if (is_counted(message)) {
    ++member.said;
  }
  callbacks_.heard(member.id, message);
}

void Crew::check_time(Member& member) {
  if (member.killed) return;
  const auto now = Clock::now();
  if (now >= limits_.deadline) {
    kill(member, WorkerEnd::Kind::no_time, "there was no time left");
  } else if (member.is_done || member.failed) {
    // All has been said. What hangs in its exit is no result of a test's.
    if (now - member.heard >= limits_.silence) {
      kill(member, WorkerEnd::Kind::hang, "the worker hung when it was to end");
    }
  } else if (!member.asked && now - member.heard >= limits_.silence) {
    kill(member, WorkerEnd::Kind::hang,
         fmt::format("no sign of life for {} ms", limits_.silence.count()));
  }
}

void Crew::kill(Member& member, WorkerEnd::Kind kind, std::string reason) {
  WorkerEnd end;
  end.kind = kind;
  end.reason = with_errors(std::move(reason), member.process);
  end.during = member.running;
  member.killed = std::move(end);
  member.kill_time = Clock::now();
  member.process.kill();
}

std::optional<WorkerEnd> Crew::end_of(Member& member) const {
  auto status = member.process.status();
  if (member.killed) {
    if (!status && Clock::now() - member.kill_time < limits_.grace) return std::nullopt;
    auto end = *member.killed;
    if (!status) {
      end.left_behind = member.process.pid();
      const auto where = describe_stuck(end.left_behind);
      end.reason += fmt::format("; process {} does not end on SIGKILL{}{}", end.left_behind,
                                where.empty() ? "" : ": ", where);
    }
    return end;
  }
  if (!status) return std::nullopt;
  // Ended, but what it said before may not have been read.
  if (member.process.output() >= 0 && Clock::now() - member.heard < limits_.grace) {
    return std::nullopt;
  }
  WorkerEnd end;
  end.during = member.running;
  end.has_lost = member.has_lost;
  if (member.failed) {
    end.kind = WorkerEnd::Kind::failed;
    end.failed = *member.failed;
    end.reason = fmt::format("{}: {}", end.failed.call, end.failed.text);
  } else if (!member.is_done || *status != 0) {
    // Nobody but others kill it: the kernel where memory is short, or an administrator.
    const bool is_killed =
        WIFSIGNALED(*status) && (WTERMSIG(*status) == SIGKILL || WTERMSIG(*status) == SIGTERM);
    end.kind = is_killed ? WorkerEnd::Kind::killed : WorkerEnd::Kind::crashed;
    end.reason = with_errors("the worker " + describe_status(*status), member.process);
  }
  return end;
}

}  // namespace peerpath::gpu
