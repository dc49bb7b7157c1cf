"""The Messages API, as Anthropic has it; by Chat Completions where the model server has none."""
