// Writes the corpus as files, which is how libFuzzer reads one.
#include <fstream>

#include "corpus.h"

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  const std::vector<std::string> inputs = lineal::fuzz::inputs();
  for (std::size_t k = 0; k < inputs.size(); ++k)
    std::ofstream(std::string(argv[1]) + "/" + std::to_string(k), std::ios::binary) << inputs[k];
  return 0;
}
