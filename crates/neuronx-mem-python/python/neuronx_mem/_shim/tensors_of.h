// Visits the tensors in a value of the operator stack.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

namespace nxm {

// Calls `change(tensor)`, which may put another tensor in the place of each defined one, and says whether it
// has.
template <class Change>
void change_tensors(c10::IValue& value, Change&& change) {
  if (value.isTensor()) {
    at::Tensor tensor = value.toTensor();
    if (tensor.defined() && change(tensor)) {
      value = std::move(tensor);
    }
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> changed;
    bool has_changed = false;
    const auto list = value.toTensorList();
    changed.reserve(list.size());
    for (size_t i = 0; i < list.size(); i++) {
      at::Tensor tensor = list.get(i);
      has_changed |= tensor.defined() && change(tensor);
      changed.push_back(std::move(tensor));
    }
    if (has_changed) {
      value = std::move(changed);
    }
  } else if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> changed;
    bool has_changed = false;
    const auto list = value.toOptionalTensorList();
    changed.reserve(list.size());
    for (size_t i = 0; i < list.size(); i++) {
      std::optional<at::Tensor> tensor = list.get(i);
      if (tensor.has_value() && tensor->defined()) {
        has_changed |= change(*tensor);
      }
      changed.push_back(std::move(tensor));
    }
    if (has_changed) {
      value = std::move(changed);
    }
  }
}

// Calls `visit(tensor)` for each tensor, undefined ones included.
template <class Visit>
void visit_tensors(const c10::IValue& value, Visit&& visit) {
  if (value.isTensor()) {
    visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      visit(tensor);
    }
  } else if (value.isOptionalTensorList()) {
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      visit(tensor.has_value() ? *tensor : at::Tensor());
    }
  }
}

}  // namespace nxm
