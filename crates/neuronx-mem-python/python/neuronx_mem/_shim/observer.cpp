#include "observer.h"

#include <map>
#include <mutex>
#include <sstream>

#include "tensors_of.h"

namespace nxm {
namespace {

struct Seen {
  int64_t runs = 0;
  int64_t tensors = 0;
  int64_t bytes = 0;
};

struct Observed {
  std::mutex mutex;
  std::map<std::string, Seen> by_name;
  OnInt64 call = nullptr;
  void* data = nullptr;
};

Observed& all() {
  static auto* all = new Observed();
  return *all;
}

}  // namespace

void observe_now(const c10::OperatorHandle& op, const OperatorInfo& info, const torch::jit::Stack& stack) {
  Seen seen;
  for (size_t i = stack.size() - info.n_arguments; i < stack.size(); i++) {
    visit_tensors(stack[i], [&](const at::Tensor& tensor) {
      if (tensor.defined() && tensor.scalar_type() == at::kLong && tensor.is_privateuseone()) {
        seen.tensors += 1;
        seen.bytes += static_cast<int64_t>(tensor.nbytes());
      }
    });
  }
  if (seen.tensors == 0) {
    return;
  }
  const std::string& overload = op.operator_name().overload_name;
  const std::string name = overload.empty() ? info.name : info.name + "." + overload;
  OnInt64 call = nullptr;
  void* data = nullptr;
  {
    const std::lock_guard lock(all().mutex);
    Seen& sum = all().by_name[name];
    sum.runs += 1;
    sum.tensors += seen.tensors;
    sum.bytes += seen.bytes;
    call = all().call;
    data = all().data;
  }
  if (call != nullptr) {
    call(name.c_str(), seen.tensors, seen.bytes, data);
  }
}

void set_observing(bool is_on) {
  const std::lock_guard lock(all().mutex);
  if (is_on) {
    all().by_name.clear();
  }
  g_is_observing.store(is_on, std::memory_order_relaxed);
}

void set_on_int64(OnInt64 call, void* data) {
  const std::lock_guard lock(all().mutex);
  all().call = call;
  all().data = data;
}

std::string observed() {
  const std::lock_guard lock(all().mutex);
  std::ostringstream text;
  for (const auto& [name, seen] : all().by_name) {
    text << name << '\t' << seen.runs << '\t' << seen.tensors << '\t' << seen.bytes << '\n';
  }
  return text.str();
}

}  // namespace nxm
