"""Files that users give: traces, split into shards, and tables and judgments (SPEC 2, 8)."""
