#!/usr/bin/env bash
# Fuzzes the native text path for a while: with libFuzzer where clang is there, else with driver.cpp.
#
#   FUZZ_SECONDS  how long (60)      FUZZ_SEED  where chance begins (1)      CXX  compiler (clang++, else g++)
#
# An input that breaks something is left in build/fuzz/crash-<hash>; build/fuzz/text_fuzz -run <file> (libFuzzer:
# without -run) runs it again.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${FUZZ_SECONDS:-60}
seed=${FUZZ_SEED:-1}
CXX=${CXX:-$(command -v clang++ || echo g++)}
out=build/fuzz
flags="-std=c++20 -O1 -g -fopenmp-simd -Wall -Wextra -Wconversion -Werror -Wno-psabi -Inative/include"
checks="-fsanitize=address,undefined -fno-sanitize-recover=all"
mkdir -p "$out/corpus"

if $CXX --version | grep -q clang; then
  # shellcheck disable=SC2086
  $CXX $flags $checks -fsanitize=fuzzer native/fuzz/text_fuzz.cpp -pthread -o "$out/text_fuzz"
  # shellcheck disable=SC2086
  $CXX $flags native/fuzz/write_corpus.cpp -o "$out/write_corpus"
  "$out/write_corpus" "$out/corpus"
  exec "$out/text_fuzz" -max_total_time="$seconds" -seed="$seed" -max_len=32768 -timeout=30 \
    -artifact_prefix="$out/" -print_final_stats=1 "$out/corpus"
fi
# Only the code under test tells where it has been.
# shellcheck disable=SC2086
$CXX $flags $checks -fno-var-tracking -fsanitize-coverage=trace-pc -c native/fuzz/text_fuzz.cpp -o "$out/text_fuzz.o"
# shellcheck disable=SC2086
$CXX $flags $checks native/fuzz/driver.cpp "$out/text_fuzz.o" -pthread -o "$out/text_fuzz"
exec "$out/text_fuzz" "$seconds" "$seed" "$out"
