#include "observer.h"

#include <map>
#include <mutex>

#include "running.h"
#include "tensors_of.h"

namespace nxm {
namespace {

// A program whose shapes never come back is counted without them from here on.
constexpr size_t kMostCalls = 1 << 16;

struct Observed {
  std::mutex mutex;
  // Number of calls by what is written of them.
  std::map<std::string, int64_t> calls;
};

Observed& all() {
  static auto* all = new Observed();
  return *all;
}

}  // namespace

void Observation::add(Shapes& shapes, const c10::IValue& value, bool& has_int64) {
  visit_tensors(value, [&](const at::Tensor& tensor) {
    // A number in the program is no operand in memory.
    if (!tensor.defined() || tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
      return;
    }
    const auto sizes = tensor.sizes();
    shapes.push_back({tensor.scalar_type(), {sizes.begin(), sizes.end()}});
    has_int64 |= tensor.scalar_type() == at::kLong;
  });
}

void Observation::look_at(const c10::OperatorHandle& op, const OperatorInfo& info, const torch::jit::Stack& stack) {
  is_on_ = true;
  const auto& arguments = op.schema().arguments();
  for (size_t i = 0; i < info.n_arguments; i++) {
    if (!arguments[i].is_out()) {
      add(arguments_, stack[stack.size() - info.n_arguments + i], has_int64_);
    }
  }
}

void Observation::write(std::string& line, const char* key, const Shapes& shapes) {
  line += ",\"";
  line += key;
  line += "\":[";
  for (const Shape& shape : shapes) {
    line += "{\"dtype\":\"";
    line += c10::getDtypeNames(shape.dtype).first;
    line += "\",\"shape\":[";
    for (const int64_t size : shape.sizes) {
      line += std::to_string(size) + ",";
    }
    if (!shape.sizes.empty()) {
      line.pop_back();
    }
    line += "]},";
  }
  if (!shapes.empty()) {
    line.pop_back();
  }
  line += ']';
}

void Observation::count(const c10::OperatorHandle& op, const OperatorInfo& info, const torch::jit::Stack& stack) {
  Shapes results;
  for (size_t i = stack.size() - info.n_returns; i < stack.size(); i++) {
    add(results, stack[i], has_int64_);
  }
  if (!has_int64_) {
    return;
  }
  const std::string& overload = op.operator_name().overload_name;
  std::string line = "\"op\":\"" + info.name + (overload.empty() ? "" : "." + overload) + "\"";
  const std::string name = line;
  write(line, "inputs", arguments_);
  write(line, "outputs", results);
  Observed& seen = all();
  const Running running;
  const std::lock_guard lock(seen.mutex);
  const auto found = seen.calls.find(line);
  if (found != seen.calls.end()) {
    found->second += 1;
  } else {
    seen.calls[seen.calls.size() < kMostCalls ? line : name] += 1;
  }
}

void set_observing(bool is_on) {
  const Running running;
  const std::lock_guard lock(all().mutex);
  all().calls.clear();
  g_is_observing.store(is_on, std::memory_order_relaxed);
}

std::string observed() {
  const Running running;
  const std::lock_guard lock(all().mutex);
  std::string text;
  for (const auto& [call, n_calls] : all().calls) {
    text += "{" + call + ",\"calls\":" + std::to_string(n_calls) + "}\n";
  }
  return text;
}

}  // namespace nxm
