# docs/rules.md 0.9
