#!/usr/bin/env bash
# Compiles and runs the native tests: all of them under the address and undefined-behaviour sanitizers, those
# with threads under the thread sanitizer as well. The closing line is the sum, "N passed, N failed".
#
#   CXX    compiler (g++)          JOBS    compilations at once (2)
#
# Objects are kept in build/native-tests and reused while compiler, flags, headers and source are unchanged.
set -euo pipefail
cd "$(dirname "$0")/../.."

CXX=${CXX:-g++}
JOBS=${JOBS:-2}
out=build/native-tests
# -fopenmp-simd as in CMakeLists.txt. -Wno-psabi: vectors of 32 bytes are passed between inline functions only.
# -fno-var-tracking halves the time to compile; it costs a debugger some variables, a sanitizer nothing.
flags="-std=c++20 -O1 -g1 -fno-var-tracking -fopenmp-simd -Wall -Wextra -Wconversion -Werror -Wno-psabi -Inative/include"
memory="-fsanitize=address,undefined -fno-sanitize-recover=all"
races="-fsanitize=thread"
mkdir -p "$out/memory" "$out/races"

n_passed=0 n_failed=0
headers=$(cat native/include/lineal/*.h native/include/lineal/*/*.h native/tests/*.h native/fuzz/*.h | cksum)
compiler=$($CXX --version | head -n 1)

# compile <folder> <sanitizer flags> <test name>
compile() {
  local object="$out/$1/$3.o" key
  key="$compiler | $flags $2 | $headers | $(cksum <"native/tests/$3.cpp")"
  if [ -f "$object" ] && [ "$(cat "$object.key" 2>/dev/null)" = "$key" ]; then return; fi
  rm -f "$object.key" "$out/$1/run"
  # shellcheck disable=SC2086
  $CXX $flags $2 -c "native/tests/$3.cpp" -o "$object"
  printf '%s' "$key" >"$object.key"
}

# build <folder> <sanitizer flags> <test names...>: objects, JOBS at a time, then one program
build() {
  local folder=$1 sanitizer=$2 objects=() running=() name pid
  shift 2
  for name in "$@"; do
    objects+=("$out/$folder/$name.o")
    compile "$folder" "$sanitizer" "$name" &
    running+=($!)
    if [ "${#running[@]}" -ge "$JOBS" ]; then
      # The oldest first: a failed compilation ends the script (set -e).
      wait "${running[0]}"
      running=("${running[@]:1}")
    fi
  done
  for pid in "${running[@]}"; do wait "$pid"; done
  # shellcheck disable=SC2086
  [ -x "$out/$folder/run" ] || $CXX $flags $sanitizer "${objects[@]}" -pthread -o "$out/$folder/run"
}

# run <title> <folder> <command...>: shows a program's output, titles its closing line, adds up its counts
run() {
  local title=$1 log="$out/$2/log" closing status=0
  shift 2
  "$@" >"$log" 2>&1 || status=$?
  closing=$(tail -n 1 "$log")
  if [[ $closing =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    sed '$d' "$log"
    echo "$title: $closing"
    n_passed=$((n_passed + BASH_REMATCH[1]))
    n_failed=$((n_failed + BASH_REMATCH[2]))
    # A sanitizer may object after the last theorem (a leak, say).
    if [ "$status" -ne 0 ] && [ "${BASH_REMATCH[2]}" -eq 0 ]; then n_failed=$((n_failed + 1)); fi
  else
    cat "$log"
    echo "$title: ended early, exit code $status"
    n_passed=$((n_passed + $(grep -c '^ok ' "$log" || true)))
    n_failed=$((n_failed + 1))
  fi
}

names=()
for file in native/tests/*.cpp; do names+=("$(basename "$file" .cpp)"); done
build memory "$memory" "${names[@]}"
run "address and undefined-behaviour sanitizers" memory "$out/memory/run"

# The thread sanitizer needs its library and, on some kernels, a process without address randomisation.
probe=$out/races/probe
echo 'int main() { return 0; }' >"$probe.cpp"
launch=()
has_races=no
if $CXX $races "$probe.cpp" -o "$probe" 2>/dev/null; then
  if "$probe" 2>/dev/null; then
    has_races=yes
  elif setarch "$(uname -m)" -R "$probe" 2>/dev/null; then
    has_races=yes
    launch=(setarch "$(uname -m)" -R)
  fi
fi
if [ "$has_races" = yes ]; then
  build races "$races" main parallel_test passes_test class_sums_test duet_test gram_test evaluate_test pointer_loss_test \
    corpus_test term_matrix_test texts neighbors_test conveyor_test hashed_stream_test ranking_test \
    string_kernels_test tree_kernels_test kernel_source_test kernel_dual_test
  run "thread sanitizer" races "${launch[@]}" "$out/races/run"
else
  echo "thread sanitizer: skipped, $CXX cannot build or start a program with $races here"
fi

echo "$n_passed passed, $n_failed failed"
[ "$n_failed" -eq 0 ]
