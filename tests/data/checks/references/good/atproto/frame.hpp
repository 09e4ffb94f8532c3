#pragma once

// -- frames (rules.md 0, 2.1; architecture.md, When memory runs short) -------

/// One frame (CONS-01; rules.md 0.1, 0.t2 and 2.1.1; actors.md, Who is fetched
/// next). What is acknowledged is there (architecture.md
/// I1, I10), as ADR
/// 12, 2 has it (ADR 12, Consequences).
struct frame {
  int number = 0; ///< docs/rules.md, "GET /repos/:did": P256 is a curve.
};

/// What is acknowledged is there (RFC 3986, 3.2.3; rules.md
/// 2.1.1), at 127.0.0.1 or `1.2.3`, in HTTP/1.1 and with CAF 0.17.6. It takes
/// 2.5 ms (of 4.5 s).
struct block {
  int size = 0; // rules.md 2.1.1
};
