#include "bind.h"

namespace lineal {

void bind_kernel_machine(nb::module_&) {}

}  // namespace lineal
