"""An MCP server: PropCite's tools, documents and prompts for agents, over stdio and streamable HTTP.

| module | content |
|---|---|
| `server` | the server of the SDK with its handlers, and every error as one line |
| `tools`, `tool`, `arguments`, `running` | the tools, what they take, and how their work runs |
| `compare_tool`, `note_tools`, `review_tools` | comparisons, notes and drafts, with what they take and return |
| `results`, `wording` | what tools return: structured, and as text to read |
| `addresses`, `resources` | `propcite://` addresses, and the documents and answers behind them |
| `prompts` | prompts that people choose in their client |
| `transports` | the route /mcp, and stdio |

The SDK is the extra `mcp`; nothing outside this package imports it.
"""
