"""The Model Context Protocol: what language models may do with the graph, as calls of the public HTTP API.

`tools` names and describes the calls, `calling` sends them, `protocol` speaks the protocol around them by the
official SDK, over HTTP (`/mcp`) and over standard input and output (`urbankg mcp`). The SDK is imported with
the first of them, since it takes longer to import than the server to start.
"""
