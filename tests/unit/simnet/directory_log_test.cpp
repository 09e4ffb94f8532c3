#include "atproto/did_document.hpp"
#include "atproto/directory_export.hpp"
#include "tests/unit/simnet/servers_fixture.hpp"

#include <boost/json.hpp>

#include <map>
#include <optional>
#include <set>

// The did:plc specification, "Bulk Export".

namespace weir::tests {

namespace {

using simnet::fault;
using simnet::fault_kind;

class DirectoryLogTest : public ServersFixture {
protected:
  void inject(fault_kind kind, size_t index) {
    fault x;
    x.kind = kind;
    x.did = view(index).id.str();
    ASSERT_TRUE(net.faults().inject(x));
  }
};

} // namespace

TEST_F(DirectoryLogTest, TheExportGoesOnAfterATime) {
  std::set<std::string> dids;
  for (std::string after; dids.size() < net.truth().accounts();) {
    const auto x = get(urls.plc + "/export?count=5&after=" + after);
    const auto body = std::string{as_text(x.body)} + "\n";
    const auto before = dids.size();
    for (size_t start = 0, end = 0; (end = body.find('\n', start)) != body.npos;
         start = end + 1) {
      const auto line = boost::json::parse(body.substr(start, end - start));
      dids.insert(std::string{line.at("did").as_string()});
      after = line.at("createdAt").as_string();
    }
    ASSERT_GT(dids.size(), before);
  }
}

// The last operation of a DID determines its document.
TEST_F(DirectoryLogTest, TheExportByNumbersSaysWhatLookUpsSay) {
  inject(fault_kind::rotate_key, 2);
  get(urls.plc + "/export?after=0");
  inject(fault_kind::rotate_key, 3);
  inject(fault_kind::tombstone, 4);
  std::map<std::string, std::optional<atproto::did_document>> said;
  uint64_t after = 0;
  size_t operations = 0;
  for (;;) {
    const auto x
      = get(urls.plc + "/export?count=5&after=" + std::to_string(after));
    const auto page = atproto::parse_export_page(as_text(x.body), after);
    ASSERT_TRUE(page) << to_string(page.error());
    ASSERT_LE(page->size(), 5u);
    if (page->empty())
      break;
    for (const auto& y : *page)
      said[y.repo.str()] = y.doc;
    operations += page->size();
    after = page->back().number;
  }
  ASSERT_EQ(said.size(), net.truth().accounts());
  EXPECT_EQ(operations, net.truth().accounts() + 2);
  for (size_t i = 0; i < net.truth().accounts(); ++i) {
    const auto id = view(i).id;
    const auto x = get(urls.plc + "/" + id.str());
    const auto& exported = said.at(id.str());
    ASSERT_EQ(exported.has_value(), x.status == 200) << i;
    if (!exported)
      continue;
    const auto document = atproto::parse_did_document(as_text(x.body), id);
    ASSERT_TRUE(document);
    EXPECT_EQ(exported->signing_key, document->signing_key);
    EXPECT_EQ(exported->pds, document->pds);
    EXPECT_EQ(exported->claimed_handle, document->claimed_handle);
  }
}

TEST_F(DirectoryLogTest, TheExportCanFailAlone) {
  const auto order = [this](fault_kind what) {
    fault x;
    x.kind = what;
    x.did = "export";
    ASSERT_TRUE(net.faults().inject(x));
  };
  const auto ask = [this] {
    return get(urls.plc + "/export?after=0");
  };
  const auto document = [this] {
    return get(urls.plc + "/" + view(0).id.str()).status;
  };
  order(fault_kind::directory_forget);
  EXPECT_EQ(document(), 200);
  EXPECT_EQ(ask().status, 404);
  order(fault_kind::directory_down);
  EXPECT_EQ(document(), 200);
  EXPECT_EQ(ask().status, 503);
  order(fault_kind::directory_wrong);
  EXPECT_FALSE(atproto::parse_export_page(as_text(ask().body), 0));
  EXPECT_TRUE(atproto::parse_export_page(as_text(ask().body), 0));
}

} // namespace weir::tests
