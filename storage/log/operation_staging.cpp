#include "storage/log/operation_staging.hpp"

#include "storage/format/limits.hpp"
#include "storage/log/limits.hpp"

namespace weir::storage {

result<void> operation_staging::add(indexed_operation x) {
  auto& to = *staged_;
  if (to.closed)
    return fail(ec::invalid_argument,
                "an operation was staged after its transaction had ended");
  if (!to.state)
    return to.state;
  to.bytes += x.operation.content.size();
  if (to.operations.size() == limits::transaction_ops_max)
    to.state = fail(ec::limit_reached,
                    "more than " + std::to_string(limits::transaction_ops_max)
                      + " operations in one transaction");
  else if (to.bytes > limits::apply_bytes_max)
    to.state = fail(ec::limit_reached,
                    "more than " + std::to_string(limits::apply_bytes_max)
                      + " bytes of content in one transaction");
  else
    to.operations.push_back(std::move(x));
  return to.state;
}

result<std::vector<indexed_operation>> operation_staging::close() {
  staged_->closed = true;
  if (!staged_->state)
    return staged_->state.error();
  return std::move(staged_->operations);
}

} // namespace weir::storage
