"""The options of `assent` without a command: what they are called, and what they mean here and now."""

import argparse
import os
import sys
from typing import TYPE_CHECKING

from assent import __version__, exit_codes
from assent.cli.parsing import BadInput, Parser

if TYPE_CHECKING:  # imported where they are used, so that --help stays instant
    from assent.config import Settings
    from assent.front.headless.one_prompt import Asking
    from assent.policy.rules import Rule

DESCRIPTION = """\
An AI agent that acts only with your assent: it proposes, you decide, it does exactly that.

  assent                                           start in this folder, in the terminal
  assent "fix the failing test"                    start with this prompt
  assent -- hello                                  the same with a single word, which could be a command
  assent -p "why does test_total fail?"            run one prompt; on a terminal, you approve its actions
  git diff | assent -p "review this"               put standard input before the prompt
  assent --resume 20261115-… -p "and now the docs" continue an earlier session
  assent tour                                      try it without an API key"""

COMMANDS = """\
commands:
  assent sessions list | show ID | export ID | fork ID
  assent answer SESSION CALL OUTCOME               answer a waiting call from another terminal
  assent policy list | explain | revoke | replay   show what is allowed here, and why
  assent undo SESSION [CALL]                       undo a call's file change, unless the file has changed since
  assent trust [FOLDER]                            trust a folder's configuration as it is now
  assent mcp list | add | remove | accept          manage MCP servers, which provide more tools
  assent serve                                     serve sessions to browsers and scripts
  assent work                                      run sessions for the servers of a cluster
  assent attach [URL] [SESSION]                    open a served session in this terminal
  assent audit list | show | export | verify       show who decided what, and check that the record is intact
  assent models [PROVIDER]                         list models, their prices, and what keeps them from being used
  assent login | logout [PROVIDER]                 store or remove a provider's API key
  assent sandbox check                             test whether commands can be confined on this machine
  assent log migrate | prune                       copy all sessions to another log, or delete old ones
  assent tour                                      take a guided tour of a sample project; needs no API key

environment:
  ASSENT_MODEL             the model to use, if not given by -m
  ASSENT_HOME              where sessions and settings are stored
  ASSENT_LOG               store sessions elsewhere: postgresql://… (with assent[cluster])
  GEMINI_API_KEY, ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY, GROQ_API_KEY, DEEPSEEK_API_KEY,
  MISTRAL_API_KEY, XAI_API_KEY, TOGETHER_API_KEY, FIREWORKS_API_KEY, CEREBRAS_API_KEY
                           API keys; the first provider with a key is used unless a model is chosen
  AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_KEY
                           your Azure resource, and its key
  GOOGLE_CLOUD_PROJECT, GOOGLE_CLOUD_LOCATION, GOOGLE_OAUTH_ACCESS_TOKEN
                           your project on Vertex AI, its location, and an access token
  OLLAMA_HOST, LLAMACPP_BASE_URL, LMSTUDIO_BASE_URL, VLLM_BASE_URL, LITELLM_BASE_URL
                           model servers of your own, if not at their usual ports
  GOOGLE_GEMINI_BASE_URL, ANTHROPIC_BASE_URL, OPENAI_BASE_URL
                           a different base URL, such as a gateway's
  HTTPS_PROXY, NO_PROXY    the proxy for requests to providers, and the hosts that need none"""
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def build_parser() -> Parser:
    codes = "\n".join(f"  {code:<4} {meaning}" for code, meaning in exit_codes.MEANING.items())
    parser = Parser("assent", DESCRIPTION, f"{COMMANDS}\n\nexit codes:\n{codes}")
    add = parser.add_argument
    add(
        "words",
        nargs="*",
        metavar="PROMPT",
        help="a prompt to start with, in the terminal UI; put `--` before a single word",
    )
    add("-p", "--prompt", metavar="TEXT", help="the prompt; `-` reads it from standard input")
    add(
        "-m",
        "--model",
        metavar="NAME",
        help="the model: gemini-2.5-flash, claude-sonnet-5-5, ollama:qwen3 …; `assent models` lists them",
    )
    add("--effort", choices=EFFORTS, help="how much the model thinks (default: the provider decides)")
    _add_approval_options(parser)
    add("-o", "--output-format", choices=("text", "json", "stream-json"), default="text", help="default: text")
    add(
        "-r",
        "--resume",
        nargs="?",
        const="latest",
        metavar="ID",
        help="continue a session; without ID, the newest of this folder",
    )
    add("-v", "--version", action="version", version=f"assent {__version__}", help="print the version and exit")
    return parser


def _add_approval_options(parser: Parser) -> None:
    add = parser.add_argument
    add(
        "--approval-mode",
        choices=("default", "auto_edit", "auto_try", "contained", "yolo", "plan"),
        help="default: ask; auto_edit: run edits; auto_try: try commands in a copy of the workspace first; "
        "contained: run commands in the sandbox, without network; yolo: run everything; plan: only read",
    )
    add(
        "--allowed-tools",
        action="append",
        default=[],
        metavar="LIST",
        help='calls that need no approval, e.g. "write_file,run_shell_command(git status)"; '
        "a command is given by its first words",
    )
    add(
        "--ask",
        choices=("inline", "wait", "refuse"),
        help="when a call needs approval: ask here (the default on a terminal), wait for an answer from elsewhere, "
        "or refuse it (the default otherwise)",
    )


def wants_ui(args: argparse.Namespace) -> bool:
    """Whether the terminal UI opens; otherwise one prompt is run."""
    asks_for_lines = args.ask is not None or args.output_format != "text"
    return args.prompt is None and sys.stdin.isatty() and sys.stdout.isatty() and not asks_for_lines


def chosen_model(args: argparse.Namespace) -> str | None:
    return args.model or os.environ.get("ASSENT_MODEL")


def given_rules(args: argparse.Namespace, settings: "Settings") -> "tuple[Rule, ...]":
    if not settings.allowed_tools and not args.allowed_tools:
        return ()
    from msgspec.structs import replace

    from assent.config import BadSettings, settings_file
    from assent.policy.rules import BadRule, parse_allowed, split_allowed

    place = f"{settings_file(os.environ)}: allowed_tools"
    try:
        own = [replace(parse_allowed(item), place=place) for item in settings.allowed_tools]
    except BadRule as error:
        raise BadSettings(f"{place}: {error}") from error
    try:
        return (*own, *(parse_allowed(item) for text in args.allowed_tools for item in split_allowed(text)))
    except BadRule as error:
        raise BadInput(str(error)) from error


def who_is_asked(given: "Asking | None") -> "Asking":
    terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if given == "inline" and not terminal:
        raise BadInput("--ask inline needs a terminal; use --ask wait, and answer elsewhere with `assent answer`")
    return given or ("inline" if terminal else "refuse")


def working_folder() -> str:
    folder = os.path.realpath(os.getcwd())
    if folder != as_text(folder):
        raise BadInput(f"the name of this folder is not valid UTF-8: {as_text(folder)}")
    return folder


def as_text(argument: str) -> str:
    """Decodes the argument's bytes; what is not UTF-8 is replaced, because every later layer would refuse it."""
    return os.fsencode(argument).decode(errors="replace")


def whole_prompt(given: str | None, *, resuming: bool) -> str | None:
    """The prompt, preceded by standard input if there is any."""
    if sys.stdin.isatty() or (resuming and given is None):
        piped = ""
    else:
        from assent.cli.standard_input import read_input

        piped = read_input(needed=given in (None, "-"))
    text = "" if given in (None, "-") else as_text(given)
    whole = f"{piped}\n\n{text}" if piped.strip() and text else text or piped
    if not whole.strip():
        if resuming and given is None:
            return None
        raise BadInput('the prompt is empty; give one with -p "…" or on standard input')
    return whole
