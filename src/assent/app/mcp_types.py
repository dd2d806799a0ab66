"""What MCP servers offer besides tools, and their status."""

from typing import TYPE_CHECKING

from assent.mcp.offers import Argument, Prompt, PromptServers, Template

if TYPE_CHECKING:  # users of these types need not import what connects
    from assent.mcp.manager import McpManager as McpManager
    from assent.mcp.server_supervisor import Status as Status

__all__ = ("Argument", "Prompt", "PromptServers", "Template")
