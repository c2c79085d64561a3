// The Python face of the laboratory's kernels. No arithmetic here.
#include "bindings.hpp"

using namespace nb::literals;

namespace edgewise::bindings {

void bind_lab(nb::module_& m) { m.def("available_cpus", &available_cpus); }

}  // namespace edgewise::bindings
