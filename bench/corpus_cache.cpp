#include "bench/corpus_cache.hpp"

#include "base/version.hpp"
#include "simnet/corpus_file.hpp"
#include "simnet/mapped_file.hpp"

#include <iostream>
#include <string>
#include <system_error>
#include <unistd.h>

namespace weir::bench {

namespace {

std::string name_of(const simnet::population_options& x, size_t events) {
  return "corpus-" + std::string{version()} + "-s" + std::to_string(x.seed)
         + "-a" + std::to_string(x.accounts) + "-r" + std::to_string(x.records)
         + "-e" + std::to_string(events) + ".net";
}

/// Writes under another name first, so that a file with the final name is
/// complete.
result<void> write(const std::filesystem::path& path,
                   const simnet::population_options& population,
                   size_t events) {
  std::cerr << "weir-bench: signing a corpus of " << population.accounts
            << " accounts, " << population.records << " records and " << events
            << " events, once\n";
  const auto draft = path.string() + "." + std::to_string(getpid());
  simnet::network_options options;
  options.population = population;
  std::error_code bad;
  if (auto made = simnet::write_corpus(draft, options, events); !made) {
    std::filesystem::remove(draft, bad);
    return made.error();
  }
  std::filesystem::rename(draft, path, bad);
  if (bad)
    return fail(ec::storage_failure,
                "cannot write " + path.string() + ": " + bad.message());
  return {};
}

result<corpus_facts> read(const std::filesystem::path& path) {
  auto file = simnet::map_file(path.string());
  if (!file)
    return file.error();
  const auto index = simnet::read_corpus_index(file->view());
  if (!index)
    return fail(index.error().code,
                index.error().context + "; remove " + path.string());
  corpus_facts out;
  out.path = path;
  out.accounts = index->accounts.size();
  out.events = index->frames.size();
  for (const auto& x : index->accounts)
    out.records += x.records;
  for (const auto& x : index->frames) {
    out.commits += x.commit;
    out.last_seq = x.seq;
  }
  return out;
}

} // namespace

result<corpus_facts> find_corpus(const std::filesystem::path& dir,
                                 const simnet::population_options& population,
                                 size_t events) {
  std::error_code bad;
  std::filesystem::create_directories(dir, bad);
  if (bad)
    return fail(ec::storage_failure,
                "cannot make " + dir.string() + ": " + bad.message());
  const auto path = dir / name_of(population, events);
  if (!std::filesystem::exists(path, bad))
    if (auto ok = write(path, population, events); !ok)
      return ok.error();
  return read(path);
}

} // namespace weir::bench
