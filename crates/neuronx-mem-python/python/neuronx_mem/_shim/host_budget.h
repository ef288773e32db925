// Whether the host has the memory that the devices' segments would take if all of it were written to.
//
// Only compute mode asks, and only when more segments are held than ever before.
#pragma once

#include <cstdint>

namespace nxm {

// Throws, and names plan mode, if the host has not.
void check_host_budget();

// Forgets what was checked.
void forget_host_budget();

}  // namespace nxm
