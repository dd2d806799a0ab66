"""The conversation as the model gets it: the messages of a session and about how many tokens they have.

A part of the fold. Prompts and replies make it longer; a summary, pruned output and going back to an earlier prompt
make it shorter. The log keeps what it loses.
"""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from assent.agent import token_estimate
from assent.agent.pruning import pruned
from assent.agent.user_prompt import user_message, without_media
from assent.events import ChatCompressed, ModelReplied, OutputPruned, PromptSubmitted
from assent.parts import Call, Message, ModelMessage, Result, Text, UserMessage
from assent.scheduler.call import Terminal, ToolCall

UNDERSTOOD = ModelMessage((Text("I have read the notes and will continue from there."),))
"""Placed between the summary of a compressed conversation and a prompt, because the roles must alternate."""


class _CallsOf(Struct, frozen=True):
    """Represents the results of one reply's calls in the history, in request order."""

    call_ids: tuple[str, ...]


class _Place(Struct, frozen=True):
    """Where a prompt begins: how many messages and tokens came before it."""

    messages: int
    tokens: int


class Conversation:
    def __init__(self, calls: Mapping[str, ToolCall]) -> None:
        """`calls`: all calls of the session by id, kept up to date by whoever passes them."""
        self._calls = calls
        self.tokens = self.incompressible = self.window = 0
        """The approximate tokens of the next request (the provider's count of the last one, plus what came since), that
        number when compression last failed to help, and the context window of the model in use (0 if unknown).
        """
        self._history: list[Message | _CallsOf] = []
        self._places: dict[str, _Place] = {}
        """By prompt id: the prompts that the person can go back to."""
        self._pruned, self._bare = set[str](), set[str]()
        """Calls whose output, or only its images and files, the model is no longer sent."""

    # --- what happened ---

    def hear(self, prompt: PromptSubmitted) -> None:
        self._places.setdefault(prompt.prompt_id, _Place(len(self._history), self.tokens))
        message = user_message(prompt)
        self.tokens += token_estimate.of_message(message)
        self._history.append(message)

    def reply(self, reply: ModelReplied) -> None:
        self.window = reply.window or self.window
        if reply.usage.input:
            self.tokens = reply.usage.input + reply.usage.output
        else:
            self.tokens += sum(map(token_estimate.of_part, reply.parts))
        if reply.parts:
            self._history.append(ModelMessage(reply.parts, reply.model))
        if calls := tuple(part.call_id for part in reply.parts if isinstance(part, Call)):
            self._history.append(_CallsOf(calls))

    def finish(self, call: Terminal) -> None:
        if call.request.initiator == "model":
            self.tokens += token_estimate.of_result(call.result)

    def leave_out_media(self) -> None:
        """The model does not accept an image of the conversation: with it, every request would fail."""
        for place, entry in enumerate(self._history):
            match entry:
                case UserMessage():
                    self._history[place] = without_media(entry)
                case _CallsOf(call_ids=call_ids):
                    self._bare.update(call_ids)
                case ModelMessage():
                    pass

    def prune(self, event: OutputPruned) -> None:
        self.window = event.window or self.window
        self._pruned.update(event.call_ids)
        self._shrink(event)

    def compress(self, event: ChatCompressed) -> list[str]:
        """Returns the calls that are no longer part of it."""
        self.window = event.window or self.window
        cut = 0 if event.problem else self._safe_cut(event.replaced)
        if cut == 0:
            self.incompressible = self.tokens
            return []
        gone, kept = self._history[:cut], self._history[cut:]
        answer = () if kept and isinstance(kept[0], ModelMessage) else (UNDERSTOOD,)
        summary = [UserMessage((Text(event.summary),)), *answer]
        self._history = [*summary, *kept]
        self._shrink(event)
        self._move_places(cut, len(summary) - cut)
        self.incompressible = 0
        return [call_id for entry in gone if isinstance(entry, _CallsOf) for call_id in entry.call_ids]

    def _shrink(self, event: ChatCompressed | OutputPruned) -> None:
        self.tokens = max(event.tokens_after, self.tokens - event.tokens_before + event.tokens_after)

    def _move_places(self, cut: int, by: int) -> None:
        """The person cannot go back to a prompt that is in the summary."""
        self._places = {
            prompt_id: _Place(place.messages + by, min(place.tokens, self.tokens))
            for prompt_id, place in self._places.items()
            if place.messages >= cut
        }

    def rewind(self, prompt_id: str) -> None:
        """As it was before this prompt."""
        place = self._places[prompt_id]
        del self._history[place.messages :]
        self.tokens, self.incompressible = place.tokens, 0
        self._places = {id: one for id, one in self._places.items() if one.messages < place.messages}

    def _safe_cut(self, wanted: int) -> int:
        """Before the first reply with an unfinished call, and never between a reply and its results."""
        cut = min(wanted, len(self._history))
        for place, entry in enumerate(self._history[:cut]):
            if isinstance(entry, _CallsOf) and any(self._is_open(call_id) for call_id in entry.call_ids):
                cut = place - 1
                break
        split = cut < len(self._history) and isinstance(self._history[cut], _CallsOf)
        return cut - 1 if split else cut

    def _is_open(self, call_id: str) -> bool:
        """A call of the newest reply is open even before it is recorded."""
        call = self._calls.get(call_id)
        if call is None:
            return any(call_id == newest.call_id for newest in self.newest_calls())
        return not isinstance(call, Terminal)

    # --- for readers ---

    def messages(self) -> tuple[Message, ...]:
        """The conversation as the model needs it: only its own calls, each with its result."""
        return tuple(self._results(entry) if isinstance(entry, _CallsOf) else entry for entry in self._history)

    def can_rewind(self, prompt_id: str) -> bool:
        return prompt_id in self._places

    def newest_calls(self) -> tuple[Call, ...]:
        """The calls requested by the newest reply; empty if it requests none, or if something followed it."""
        if not self._history or not isinstance(self._history[-1], _CallsOf):
            return ()
        reply = self._history[-2]
        parts = reply.parts if isinstance(reply, ModelMessage) else ()
        return tuple(part for part in parts if isinstance(part, Call))

    def has_call(self, call_id: str) -> bool:
        return any(isinstance(entry, _CallsOf) and call_id in entry.call_ids for entry in self._history)

    @property
    def window_share(self) -> float:
        """How much of the model's context window the next request fills; 0 if the window is unknown."""
        return self.tokens / self.window if self.window else 0.0

    def _results(self, entry: _CallsOf) -> UserMessage:
        return UserMessage(tuple(self._result(call_id) for call_id in entry.call_ids))

    def _result(self, call_id: str) -> Result:
        call = self._calls.get(call_id)
        if isinstance(call, Terminal):
            result = replace(call.result, media=()) if call_id in self._bare else call.result
            return pruned(result) if call_id in self._pruned else result
        name = call.request.tool if call is not None else "unknown"
        return Result(call_id, name, {"error": "This call has no result: it never ran."})
