# docs/rules.md 0.1
file(READ "${SHARED}/spec/protocol.md" text)
