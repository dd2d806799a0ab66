"""The states of a tool call, for those who show it."""

from assent.scheduler.call import (
    AwaitingApproval,
    Cancelled,
    Executing,
    Failed,
    Scheduled,
    Success,
    Terminal,
    ToolCall,
    Validating,
)

__all__ = (
    "AwaitingApproval",
    "Cancelled",
    "Executing",
    "Failed",
    "Scheduled",
    "Success",
    "Terminal",
    "ToolCall",
    "Validating",
)
