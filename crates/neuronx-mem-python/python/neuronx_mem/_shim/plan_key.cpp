#include "plan_key.h"

#include <ATen/Context.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>

#include "world.h"

namespace nxm {
namespace {

template <class T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& bytes, const std::string& text) {
  put(bytes, text.size());
  bytes += text;
}

void put_tensor(PlanKey& key, const at::Tensor& tensor) {
  std::string& bytes = key.bytes;
  if (!tensor.defined()) {
    bytes.push_back('U');
    return;
  }
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  const bool is_ours = tensor.is_privateuseone();
  bytes.push_back(is_ours ? 'N' : 'C');
  put(bytes, tensor.device().index());
  put(bytes, tensor.scalar_type());
  put(bytes, static_cast<char>((impl->is_wrapped_number() ? 1 : 0) | (tensor.is_conj() ? 2 : 0) | (tensor.is_neg() ? 4 : 0)));
  const auto sizes = tensor.sizes();
  const auto strides = tensor.strides();
  put(bytes, sizes.size());
  bytes.append(reinterpret_cast<const char*>(sizes.data()), sizes.size() * sizeof(int64_t));
  bytes.append(reinterpret_cast<const char*>(strides.data()), strides.size() * sizeof(int64_t));
  put(bytes, impl->storage_offset());
  if (!is_ours) {
    return;
  }
  // Bytes of the storage: what a view may reach, and what a resize would have to grow.
  put(bytes, impl->storage().nbytes());
  // Which of the tensors before it this one is: a result that is an argument is remembered by its place.
  uint32_t same = 0;
  while (same < key.tensors.size() && !key.tensors[same].is_same(tensor)) {
    same++;
  }
  put(bytes, same);
  if (!key.device.has_value()) {
    key.device = tensor.device();
  }
  key.tensors.push_back(tensor);
}

// Numbers matter by their kind only where shapes do not depend on them.
bool put_number(PlanKey& key, const c10::IValue& value, bool is_by_kind) {
  std::string& bytes = key.bytes;
  if (value.isInt()) {
    bytes.push_back('i');
    if (!is_by_kind) {
      put(bytes, value.toInt());
    }
  } else if (value.isDouble()) {
    bytes.push_back('d');
    if (!is_by_kind) {
      put(bytes, value.toDouble());
    }
  } else if (value.isBool()) {
    bytes.push_back(value.toBool() ? 'b' : 'f');
  } else if (value.isComplexDouble()) {
    bytes.push_back('z');
    if (!is_by_kind) {
      put(bytes, value.toComplexDouble());
    }
  } else {
    return false;
  }
  return true;
}

template <class List>
void put_list(std::string& bytes, char kind, const List& list) {
  bytes.push_back(kind);
  put(bytes, list.size());
  for (const auto& value : list) {
    put(bytes, value);
  }
}

bool put_value(PlanKey& key, const c10::IValue& value, bool is_by_kind) {
  std::string& bytes = key.bytes;
  if (value.isTensor()) {
    put_tensor(key, value.toTensor());
  } else if (value.isNone()) {
    bytes.push_back('0');
  } else if (value.isIntList()) {
    put_list(bytes, 'I', value.toIntVector());
  } else if (value.isDoubleList()) {
    put_list(bytes, 'F', value.toDoubleVector());
  } else if (value.isBoolList()) {
    bytes.push_back('B');
    const auto list = value.toBoolList();
    put(bytes, list.size());
    for (const bool bit : list) {
      bytes.push_back(bit ? 1 : 0);
    }
  } else if (value.isTensorList()) {
    const auto list = value.toTensorVector();
    bytes.push_back('T');
    put(bytes, list.size());
    for (const at::Tensor& tensor : list) {
      put_tensor(key, tensor);
    }
  } else if (value.isOptionalTensorList()) {
    const auto list = value.toOptionalTensorVector();
    bytes.push_back('O');
    put(bytes, list.size());
    for (const auto& tensor : list) {
      put_tensor(key, tensor.has_value() ? *tensor : at::Tensor());
    }
  } else if (value.isDevice()) {
    bytes.push_back('D');
    put(bytes, value.toDevice().type());
    put(bytes, value.toDevice().index());
    if (value.toDevice().type() == kNeuron) {
      key.device = value.toDevice();
    }
  } else if (value.isString()) {
    bytes.push_back('s');
    put_text(bytes, value.toStringRef());
  } else if (value.isGenerator()) {
    bytes.push_back('g');
  } else {
    return put_number(key, value, is_by_kind);
  }
  return true;
}

}  // namespace

bool write_key(const c10::OperatorHandle& op, const OperatorInfo& info, const torch::jit::Stack& stack, PlanKey& key) {
  key.bytes.clear();
  put(key.bytes, &op.schema());
  put(key.bytes, c10::get_default_dtype_as_scalartype());
  const bool is_deterministic = at::globalContext().deterministicAlgorithms();
  key.bytes.push_back(static_cast<char>((c10::GradMode::is_enabled() ? 1 : 0) | (is_deterministic ? 2 : 0)));
  const auto& arguments = op.schema().arguments();
  const size_t begin = stack.size() - info.n_arguments;
  for (size_t i = 0; i < info.n_arguments; i++) {
    // An integer of a pointwise operator that is no Scalar (a dtype, a rounding mode) does matter.
    const bool is_scalar = arguments[i].type()->kind() == c10::TypeKind::NumberType;
    if (!put_value(key, stack[begin + i], info.is_pointwise && is_scalar)) {
      return false;
    }
  }
  return true;
}

}  // namespace nxm
