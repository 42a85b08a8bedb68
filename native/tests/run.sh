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
# -O0: what these two add to the code takes an optimiser far longer than it saves the tests.
memory="-O0 -fsanitize=address,undefined -fno-sanitize-recover=all"
races="-fsanitize=thread"
mkdir -p "$out/memory" "$out/races"

n_passed=0 n_failed=0
headers=$(cat native/include/lineal/*.h native/include/lineal/*/*.h native/tests/*.h native/fuzz/*.h | cksum)
compiler=$($CXX --version | head -n 1)

# Tests that use the same headers are compiled as one file: what the headers make is compiled once then, which
# saves a quarter of the time. Each test is in a namespace of its own there, so its names need to differ from nobody's.
# A test that is named in no group is compiled alone.
groups=(
  "corpus_test tokens_test words_test word_map_test term_matrix_test ngrams_test texts main"
  "vocabulary_test word_grams_test runs_test weighing_test hashing_test hashed_stream_test scorer_test document_rows_test document_sets_test"
  "documents_test transcode_test records_test sparse_lines_test conveyor_test parallel_test watch_test token_test radix_test"
  "evaluate_test softmax_test constants_test loss_test pointer_loss_test simplex_test falling_test rng_test"
  "cholesky_test interior_point_test reduced_system_test newton_step_test"
  "dual_cd_test block_dual_cd_test duet_test prox_cd_test group_cd_test active_set_test perceptron_test joint_online_test"
  "passes_test row_sweeps_test foreign_rows_test rows_test class_sums_test gram_test monomials_test"
  "online_test online_steps_test stochastic_test"
  "kernel_dual_test class_pairs_test kernel_source_test kernel_panels_test kernel_lanes_test smo_test equal_rows_test"
  "neighbors_test whole_metric_test string_kernels_test tree_kernels_test ranking_test"
)

# together <test names...>: the source of one file that holds them all
together() {
  local name
  for name in "$@"; do grep -h '^#include' "native/tests/$name.cpp"; done
  for name in "$@"; do
    # What is no test (texts, main) makes names for all of them.
    if [[ $name == *_test ]]; then
      printf 'namespace %s {\n#include "native/tests/%s.cpp"\n}\n' "$name" "$name"
    else
      printf '#include "native/tests/%s.cpp"\n' "$name"
    fi
  done
}

# compile <folder> <sanitizer flags> <test names...>: into an object with the name of the first
compile() {
  local folder=$1 sanitizer=$2 source="$out/$1/$3.cpp" object="$out/$1/$3.o" key
  shift 2
  key="$compiler | $flags $sanitizer | $headers | $* | $(cd native/tests && cksum "${@/%/.cpp}")"
  if [ -f "$object" ] && [ "$(cat "$object.key" 2>/dev/null)" = "$key" ]; then return; fi
  rm -f "$object.key" "$out/$folder/run"
  together "$@" >"$source"
  # shellcheck disable=SC2086
  $CXX $flags $sanitizer -I. -Inative/tests -c "$source" -o "$object" || return 255 # ends xargs
  printf '%s' "$key" >"$object.key"
}

# commands <folder> <sanitizer variable> <test names...>: a line that compiles each group of those tests
commands() {
  local folder=$1 sanitizer=$2 wanted=" ${*:3} " group name members
  shift 2
  for group in "${groups[@]}" "$@"; do
    members=
    for name in $group; do
      if [[ $wanted == *" $name "* ]]; then members+=" $name" wanted=${wanted/ $name / }; fi
    done
    [ -z "$members" ] || echo "compile $folder \"\$$sanitizer\"$members"
  done
}

# link <folder> <sanitizer flags> <lines of commands>
link() {
  local objects
  objects=$(awk -v folder="$1" -v out="$out" '$2 == folder { print out "/" folder "/" $4 ".o" }' <<<"$3")
  # shellcheck disable=SC2086
  [ -x "$out/$1/run" ] || $CXX $flags $2 $objects -pthread -o "$out/$1/run"
}

# tell <title> <folder> <exit code>: shows a program's output, titles its closing line, adds up its counts
tell() {
  local title=$1 log="$out/$2/log" closing status=$3
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

names=()
for file in native/tests/*.cpp; do names+=("$(basename "$file" .cpp)"); done
todo=$(commands memory memory "${names[@]}")
if [ "$has_races" = yes ]; then
  todo+=$'\n'$(commands races races main parallel_test watch_test token_test passes_test foreign_rows_test class_sums_test monomials_test duet_test gram_test evaluate_test softmax_test constants_test \
    pointer_loss_test corpus_test term_matrix_test texts neighbors_test conveyor_test hashed_stream_test ranking_test \
    string_kernels_test tree_kernels_test kernel_source_test kernel_dual_test class_pairs_test)
fi
export CXX out flags memory races headers compiler
export -f compile together
tr '\n' '\0' <<<"$todo" | xargs -0 -P "$JOBS" -I{} bash -c '{}'
link memory "$memory" "$todo"
[ "$has_races" = no ] || link races "$races" "$todo"

# The two programs side by side: most of the time each has one thread.
memory_status=0 races_status=0
"$out/memory/run" >"$out/memory/log" 2>&1 &
running=$!
[ "$has_races" = no ] || "${launch[@]}" "$out/races/run" >"$out/races/log" 2>&1 || races_status=$?
wait "$running" || memory_status=$?
tell "address and undefined-behaviour sanitizers" memory "$memory_status"
if [ "$has_races" = yes ]; then
  tell "thread sanitizer" races "$races_status"
else
  echo "thread sanitizer: skipped, $CXX cannot build or start a program with $races here"
fi

echo "$n_passed passed, $n_failed failed"
[ "$n_failed" -eq 0 ]
