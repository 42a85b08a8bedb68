// The entry that libFuzzer and driver.cpp call: text_laws.h on one input.
#include "text_laws.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lineal::fuzz::text_obeys({data, size});  // a broken law is an exception that nobody catches
  return 0;
}
