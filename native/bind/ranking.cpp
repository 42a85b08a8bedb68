#include "bind.h"

namespace lineal {

void bind_ranking(nb::module_&) {}

}  // namespace lineal
