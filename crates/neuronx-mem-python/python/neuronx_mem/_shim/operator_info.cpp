#include "operator_info.h"

#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace nxm {
namespace {

bool takes_cpu_tensors(const std::string& name) {
  static const std::unordered_set<std::string_view> names{
      "aten::index",           "aten::index_put",        "aten::index_put_",       "aten::_index_put_impl_",
      "aten::_unsafe_index",   "aten::_unsafe_index_put", "aten::repeat_interleave", "aten::_pack_padded_sequence",
      "aten::_unsafe_masked_index", "aten::_unsafe_masked_index_put_accumulate"};
  return names.count(name) > 0;
}

OperatorInfo look_up(const c10::OperatorHandle& op) {
  OperatorInfo info;
  const c10::FunctionSchema& schema = op.schema();
  info.n_arguments = schema.arguments().size();
  info.n_returns = schema.returns().size();
  info.name = schema.name();
  for (size_t i = 0; i < info.n_arguments; i++) {
    c10::TypePtr type = schema.arguments()[i].type();
    if (const auto optional = type->cast<c10::OptionalType>()) {
      type = optional->getElementType();
    }
    if (type->kind() == c10::TypeKind::GeneratorType) {
      info.generator = static_cast<int>(i);
    }
  }
  info.is_pointwise = op.hasTag(at::Tag::pointwise);
  info.has_meta = op.hasKernelForDispatchKey(c10::DispatchKey::Meta) ||
      op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd) ||
      op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
  info.int64 = int64_rule_of(op);
  info.takes_cpu_tensors = takes_cpu_tensors(info.name);
  // The batch sizes of a packed sequence, from lengths that only the CPU knows.
  if (info.name == "aten::_pack_padded_sequence") {
    info.cpu_result = 1;
    info.has_meta = false;
  }
  return info;
}

}  // namespace

const OperatorInfo& info_of(const c10::OperatorHandle& op) {
  thread_local std::unordered_map<const c10::FunctionSchema*, OperatorInfo> infos;
  const c10::FunctionSchema* schema = &op.schema();
  const auto found = infos.find(schema);
  if (found != infos.end()) {
    return found->second;
  }
  return infos.emplace(schema, look_up(op)).first->second;
}

}  // namespace nxm
