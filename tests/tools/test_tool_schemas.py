"""The schemas as the model sees them; a change here is a change for every model."""

# ruff: noqa: E501

import pytest
from inline_snapshot import snapshot

from tools.toolkit import Bench


@pytest.mark.spec("E1")
def test_the_schemas_are_plain_json_schema(bench: Bench) -> None:
    assert {name: tool.schema() for name, tool in bench.tools.items() if tool.for_model} == snapshot(
        {
            "read_file": {
                "type": "object",
                "properties": {
                    "file_path": {
                        "description": "File to read, relative to the workspace root or absolute.",
                        "type": "string",
                    },
                    "start_line": {
                        "description": "First line to read, starting at 1.",
                        "anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}],
                        "default": None,
                    },
                    "end_line": {
                        "description": "Last line to read, inclusive.",
                        "anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}],
                        "default": None,
                    },
                },
                "required": ["file_path"],
                "additionalProperties": False,
            },
            "read_many_files": {
                "type": "object",
                "properties": {
                    "include": {
                        "description": "Files, folders or patterns such as `src/**/*.py`, relative to the workspace root.",
                        "type": "array",
                        "items": {"type": "string"},
                    },
                    "exclude": {
                        "description": "Path patterns to leave out.",
                        "type": "array",
                        "items": {"type": "string"},
                        "default": [],
                    },
                    "recursive": {
                        "description": "Include subfolders of a folder. Default: true.",
                        "type": "boolean",
                        "default": True,
                    },
                    "use_default_excludes": {
                        "description": "Leave out dependencies, build output and the like. Default: true.",
                        "type": "boolean",
                        "default": True,
                    },
                    "respect_git_ignore": {
                        "description": "Skip files that git ignores. Default: true.",
                        "type": "boolean",
                        "default": True,
                    },
                },
                "required": ["include"],
                "additionalProperties": False,
            },
            "list_directory": {
                "type": "object",
                "properties": {
                    "dir_path": {
                        "description": "Folder to list, relative to the workspace root or absolute.",
                        "type": "string",
                    },
                    "ignore": {
                        "description": "Name patterns to leave out, e.g. `*.log`.",
                        "type": "array",
                        "items": {"type": "string"},
                        "default": [],
                    },
                },
                "required": ["dir_path"],
                "additionalProperties": False,
            },
            "glob": {
                "type": "object",
                "properties": {
                    "pattern": {
                        "description": "Path pattern, e.g. `src/**/*.py`; `**` matches any number of folders.",
                        "type": "string",
                    },
                    "dir_path": {
                        "description": "Folder to search in. Default: the workspace root.",
                        "type": "string",
                        "default": "",
                    },
                    "case_sensitive": {
                        "description": "Match case exactly. Default: false.",
                        "type": "boolean",
                        "default": False,
                    },
                    "respect_git_ignore": {
                        "description": "Skip files that git ignores. Default: true.",
                        "type": "boolean",
                        "default": True,
                    },
                },
                "required": ["pattern"],
                "additionalProperties": False,
            },
            "grep_search": {
                "type": "object",
                "properties": {
                    "pattern": {
                        "description": "Regular expression to search for (plain text with fixed_strings).",
                        "type": "string",
                    },
                    "dir_path": {
                        "description": "Folder or file to search. Default: the workspace root.",
                        "type": "string",
                        "default": "",
                    },
                    "include_pattern": {
                        "description": "Only search files that match this glob, e.g. `*.{ts,tsx}`.",
                        "type": "string",
                        "default": "",
                    },
                    "exclude_pattern": {
                        "description": "Skip lines that match this regular expression.",
                        "type": "string",
                        "default": "",
                    },
                    "names_only": {
                        "description": "Return only the paths of files with a match.",
                        "type": "boolean",
                        "default": False,
                    },
                    "case_sensitive": {
                        "description": "Match case exactly. Default: false.",
                        "type": "boolean",
                        "default": False,
                    },
                    "fixed_strings": {
                        "description": "Treat the pattern as plain text.",
                        "type": "boolean",
                        "default": False,
                    },
                    "context": {
                        "description": "Lines to show before and after each match.",
                        "anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}],
                        "default": None,
                    },
                    "after": {
                        "description": "Lines to show after each match.",
                        "anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}],
                        "default": None,
                    },
                    "before": {
                        "description": "Lines to show before each match.",
                        "anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}],
                        "default": None,
                    },
                    "no_ignore": {
                        "description": "Also search files that git ignores.",
                        "type": "boolean",
                        "default": False,
                    },
                    "max_matches_per_file": {
                        "description": "Maximum number of matches per file.",
                        "anyOf": [{"type": "integer", "minimum": 1, "maximum": 5000}, {"type": "null"}],
                        "default": None,
                    },
                    "total_max_matches": {
                        "description": "Maximum number of matches. Default: 100.",
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 5000,
                        "default": 100,
                    },
                },
                "required": ["pattern"],
                "additionalProperties": False,
            },
            "write_file": {
                "type": "object",
                "properties": {
                    "file_path": {
                        "description": "File to write, relative to the workspace root or absolute.",
                        "type": "string",
                    },
                    "content": {
                        "description": "The complete content. Never leave anything out: no `... rest of the code ...`.",
                        "type": "string",
                    },
                },
                "required": ["file_path", "content"],
                "additionalProperties": False,
            },
            "replace": {
                "type": "object",
                "properties": {
                    "file_path": {
                        "description": "File to change, relative to the workspace root or absolute.",
                        "type": "string",
                    },
                    "instruction": {
                        "description": "The purpose of this change, in one sentence.",
                        "type": "string",
                        "default": "",
                    },
                    "old_string": {
                        "description": "The exact text to replace, including indentation, with enough surrounding lines to be unique. Empty to create a new file.",
                        "type": "string",
                    },
                    "new_string": {"description": "The exact and complete replacement text.", "type": "string"},
                    "allow_multiple": {
                        "description": "Replace every occurrence. Default: false.",
                        "type": "boolean",
                        "default": False,
                    },
                },
                "required": ["file_path", "old_string", "new_string"],
                "additionalProperties": False,
            },
            "run_shell_command": {
                "type": "object",
                "properties": {
                    "command": {"description": "The exact command line, run as `bash -c COMMAND`.", "type": "string"},
                    "description": {
                        "description": "One short sentence for the user: what the command does and why. No line breaks.",
                        "type": "string",
                        "default": "",
                    },
                    "dir_path": {
                        "description": "Folder to run in, relative to the workspace root or absolute. Default: the root.",
                        "type": "string",
                        "default": "",
                    },
                    "is_background": {
                        "description": "Start the command and return at once. It runs until it is stopped or the session ends; see list_background_processes, read_background_output, stop_background_process.",
                        "type": "boolean",
                        "default": False,
                    },
                    "sandbox": {
                        "description": "Only if the sandbox refused what the command needs: `network` asks the user for network access, `off` asks to run it without the sandbox.",
                        "enum": ["", "network", "off"],
                        "default": "",
                    },
                    "writable": {
                        "description": "Only if the sandbox refused to write there: absolute paths to ask for.",
                        "type": "array",
                        "items": {"type": "string"},
                        "maxItems": 8,
                        "default": [],
                    },
                    "domains": {
                        "description": "Only if the sandbox refused to connect: hosts, or host:port, to ask for.",
                        "type": "array",
                        "items": {"type": "string"},
                        "maxItems": 16,
                        "default": [],
                    },
                },
                "required": ["command"],
                "additionalProperties": False,
            },
            "list_background_processes": {
                "type": "object",
                "properties": {},
                "required": [],
                "additionalProperties": False,
            },
            "read_background_output": {
                "type": "object",
                "properties": {
                    "pid": {"description": "The process id that run_shell_command returned.", "type": "integer"},
                    "lines": {
                        "description": "How many of the newest lines.",
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 2000,
                        "default": 100,
                    },
                },
                "required": ["pid"],
                "additionalProperties": False,
            },
            "stop_background_process": {
                "type": "object",
                "properties": {
                    "pid": {"description": "The process id that run_shell_command returned.", "type": "integer"}
                },
                "required": ["pid"],
                "additionalProperties": False,
            },
            "web_fetch": {
                "type": "object",
                "properties": {
                    "prompt": {
                        "description": "The addresses to fetch (at most 20, each starting with http:// or https:// and surrounded by spaces), and what you want from them, in a sentence for the user.",
                        "type": "string",
                    }
                },
                "required": ["prompt"],
                "additionalProperties": False,
            },
            "write_todos": {
                "type": "object",
                "properties": {
                    "todos": {
                        "description": "The whole list, in order; it replaces the previous one. At most one step is in_progress.",
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "description": {"type": "string"},
                                "status": {"enum": ["blocked", "cancelled", "completed", "in_progress", "pending"]},
                            },
                            "required": ["description", "status"],
                            "additionalProperties": False,
                        },
                    }
                },
                "required": ["todos"],
                "additionalProperties": False,
            },
            "ask_user": {
                "type": "object",
                "properties": {
                    "questions": {
                        "description": "One to four related questions.",
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "question": {"type": "string"},
                                "type": {"enum": ["choice", "text", "yesno"], "default": "choice"},
                                "header": {"type": "string", "default": ""},
                                "options": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "properties": {
                                            "label": {"type": "string"},
                                            "description": {"type": "string", "default": ""},
                                        },
                                        "required": ["label"],
                                        "additionalProperties": False,
                                    },
                                    "default": [],
                                },
                                "multiSelect": {"type": "boolean", "default": False},
                                "placeholder": {"type": "string", "default": ""},
                            },
                            "required": ["question"],
                            "additionalProperties": False,
                        },
                    }
                },
                "required": ["questions"],
                "additionalProperties": False,
            },
            "propose_plan": {
                "type": "object",
                "properties": {
                    "steps": {
                        "description": "What you would do, in order; one short sentence each.",
                        "type": "array",
                        "items": {"type": "string"},
                    },
                    "summary": {
                        "description": "The plan in a few sentences: what changes, where, and why.",
                        "type": "string",
                        "default": "",
                    },
                },
                "required": ["steps"],
                "additionalProperties": False,
            },
        }
    )
