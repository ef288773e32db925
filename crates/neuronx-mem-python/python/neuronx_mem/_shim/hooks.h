// Makes the allocators and the answers about devices known to PyTorch. Once a process.
#pragma once

namespace nxm {

void install_hooks();

}  // namespace nxm
