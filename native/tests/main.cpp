#include "check.h"

int main() { return lineal::check::run_all(); }
