#pragma once

// -- frames (rules.md 1, 2.1; architecture.md, When disks fill up) ------------

/// One frame (CONS-02; rules.md 0.1, 0.t3 and 2.2; architecture.md 4). What is
/// acknowledged is there (protocol.md
/// 0.1; architecture.md
/// I2), as ADR
/// 13 has it, or ADR 12, 4. Invariant I3, issue 2, requirements.md 1b.5.
struct frame {
  int number = 0; ///< docs/rules.md, GET /repos
};

/// As CONS-01 has it (3b.2). What is
/// acknowledged (0.1) is there.
struct block {
  int size = 0; // 2.t3
};

// 2.1.1; a number of no page
