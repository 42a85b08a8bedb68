// A small fuzzer for compilers without libFuzzer (GCC has none): the same entry, the same idea.
//
//   text_fuzz [seconds] [seed] [folder for crashes]      or      text_fuzz -run file...
//
// Inputs of the corpus are mutated, and those that reach code that none before them reached are kept and
// mutated further; the compiler's -fsanitize-coverage=trace-pc tells which code that is. All runs are in a
// child process that leaves its input in shared memory: whatever ends or hangs the child, the parent has the
// input, writes it down and starts another child. The closing line is the sum.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "corpus.h"
#include "lineal/rng.h"
#include "lineal/text/hash.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t most_bytes = 1 << 15, n_places = 1 << 16;
using Clock = std::chrono::steady_clock;

// What parent and child share.
struct Shared {
  std::atomic<std::uint64_t> n_runs, n_kept;
  std::atomic<std::size_t> size;
  std::atomic<bool> is_at_work;
  std::uint8_t bytes[most_bytes];
};

std::atomic<std::uint8_t> is_reached[n_places];
std::atomic<bool> has_news = false;

}  // namespace

// Called by the compiler's instrumentation at every branch of the code under test, from any thread.
extern "C" void __sanitizer_cov_trace_pc() {
  const auto place = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  auto& cell = is_reached[(place ^ place >> 16) % n_places];
  if (cell.load(std::memory_order_relaxed)) return;
  cell.store(1, std::memory_order_relaxed);
  has_news.store(true, std::memory_order_relaxed);
}

namespace {

class Mutations {
 public:
  explicit Mutations(std::uint64_t seed) : rng_(seed), corpus_(lineal::fuzz::inputs()) {
    pieces_ = lineal::fuzz::hard_pieces();
    for (const std::string& piece : lineal::fuzz::malformed_pieces()) pieces_.push_back(piece);
    for (const char* const piece : {"\xFF", "\xFF\xFF", " ", "a", "the ", "Word", "12345678"})
      pieces_.push_back(piece);
  }
  const std::vector<std::string>& corpus() const { return corpus_; }
  void keep(const std::string& input) { corpus_.push_back(input); }

  std::string next() {
    // The smaller of two: short inputs run fast and fail for one reason.
    const std::string &one = any(corpus_), &other = any(corpus_);
    std::string input = one.size() < other.size() ? one : other;
    for (std::uint64_t times = 1 + rng_.below(4); times > 0; --times) mutate(input);
    if (input.size() > most_bytes) input.resize(most_bytes);
    return input;
  }

 private:
  const std::string& any(const std::vector<std::string>& all) {
    return all[std::size_t(rng_.below(all.size()))];
  }
  std::size_t place(const std::string& input) { return std::size_t(rng_.below(input.size() + 1)); }
  void mutate(std::string& input) {
    const std::size_t at = place(input);
    const std::size_t size = std::size_t(rng_.below(std::min<std::size_t>(input.size() - at, 80) + 1));
    switch (rng_.below(9)) {
      case 0:  // flip a bit
        if (at < input.size()) input[at] = char(input[at] ^ 1 << rng_.below(8));
        break;
      case 1:  // another byte
        if (at < input.size()) input[at] = char(rng_.below(256));
        break;
      case 2:  // another option
        if (!input.empty())
          input[std::size_t(rng_.below(std::min<std::size_t>(input.size(), 2)))] = char(rng_.below(256));
        break;
      case 3:
      case 4:
        input.insert(at, any(pieces_));
        break;
      case 5:
        input.erase(at, size);
        break;
      case 6:  // truncate
        if (rng_.below(4) == 0) input.resize(at);
        break;
      case 7:  // duplicate
        input.insert(place(input), input.substr(at, size));
        break;
      case 8: {  // splice
        const std::string& other = any(corpus_);
        const std::size_t from = place(other);
        input = input.substr(0, at) + other.substr(from, 2000);
        break;
      }
    }
  }

  lineal::Rng rng_;
  std::vector<std::string> corpus_, pieces_;
};

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

// Never returns: the child's life. The corpus comes first, as it is, if this is the first child.
[[noreturn]] void work(Shared& shared, std::uint64_t seed, bool is_first, Clock::time_point end) {
  Mutations mutations(seed);
  const auto run_shared = [&](const std::string& input) {
    std::memcpy(shared.bytes, input.data(), input.size());
    shared.size = input.size();
    shared.is_at_work = true;
    run(input);
    shared.is_at_work = false;
    ++shared.n_runs;
  };
  const std::vector<std::string> corpus = mutations.corpus();
  for (const std::string& input : corpus)
    if (is_first && input.size() <= most_bytes) run_shared(input);
  while (Clock::now() < end) {
    const std::string input = mutations.next();
    has_news = false;
    run_shared(input);
    if (!has_news) continue;
    mutations.keep(input);
    ++shared.n_kept;
  }
  std::_Exit(0);
}

// Waits for the child; one that is with the same input for too long is ended. Returns what it ended with.
int wait_for(pid_t child, const Shared& shared) {
  constexpr int patience = 300;  // tenths of a second
  std::uint64_t before = shared.n_runs;
  for (int waited = 0;;) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return status;
    usleep(100000);
    waited = before == shared.n_runs ? waited + 1 : 0;
    before = shared.n_runs;
    if (waited == patience) kill(child, SIGKILL);
  }
}

std::string write_down(const Shared& shared, const std::string& folder) {
  const std::string input(reinterpret_cast<const char*>(shared.bytes), shared.size);
  char name[32];
  std::snprintf(name, sizeof name, "/crash-%016llx",
                static_cast<unsigned long long>(lineal::hash_bytes(input, 0)));
  std::ofstream(folder + name, std::ios::binary) << input;
  return folder + name;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "-run") {
    for (int k = 2; k < argc; ++k) {
      std::ifstream file(argv[k], std::ios::binary);
      run({std::istreambuf_iterator<char>(file), {}});
    }
    return 0;
  }
  const double seconds = argc > 1 ? std::atof(argv[1]) : 60.0;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::string folder = argc > 3 ? argv[3] : ".";
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return std::perror("mmap"), 1;
  auto& shared = *new (memory) Shared{};
  const auto begin = Clock::now();
  const auto end =
      begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  int n_crashes = 0;
  // Ten crashes tell enough.
  for (std::uint64_t child_seed = seed; n_crashes < 10; ++child_seed) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) return std::perror("fork"), 1;
    if (child == 0) work(shared, child_seed, child_seed == seed, end);
    const int status = wait_for(child, shared);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    ++n_crashes;
    std::printf("crash: %s\n", shared.is_at_work ? write_down(shared, folder).c_str() : "between two inputs");
  }
  const double taken = std::chrono::duration<double>(Clock::now() - begin).count();
  const auto n_runs = static_cast<unsigned long long>(shared.n_runs);
  std::printf("seed %llu: %llu executions, %.0f a second, %llu inputs that reached new code, %d crashes\n",
              static_cast<unsigned long long>(seed), n_runs, double(n_runs) / taken,
              static_cast<unsigned long long>(shared.n_kept), n_crashes);
  return n_crashes == 0 ? 0 : 1;
}
