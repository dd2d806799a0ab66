"""From the events of one session to what is exported: one trace for each prompt.

    invoke_agent assent                the prompt, until its turn is over
      chat gemini-3-pro                a request to the model
      approval run_shell_command       a question, until it was answered
      execute_tool run_shell_command   a call that ran, or that was refused

A request has no event for its beginning: it begins when what it waited for is over, which is the latest event of the
turn before the reply.
"""

from collections.abc import Iterator

from msgspec import Struct

from assent import __version__
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallRequest,
    CallRequested,
    CallStarted,
    ChatCompressed,
    ContextLoaded,
    Envelope,
    ModelChanged,
    ModelReplied,
    OutputPruned,
    PromptSubmitted,
    SessionCreated,
    SessionRenamed,
    TextDelta,
    ThoughtDelta,
    TurnFinished,
)
from assent.otel.message_content import ContentWriter, Message, finish_reason
from assent.otel.model_labels import provider_and_model
from assent.otel.otel_records import Attribute, LogRecord, Measurement, Place, Record, Span
from assent.otel.otel_switch import Content
from assent.parts import Usage
from assent.secrets.mask import Masker

AGENT = "assent"
OTHER = "_OTHER"
"""Used for a tool that does not exist, because its name is arbitrary text from the model."""
_Values = dict[str, Attribute]


class _Turn(Struct, kw_only=True):
    prompt_id: str
    started: float
    asked: float
    """When the current request to the model began, at the latest."""
    first_chunk: float | None = None
    news: list[Message] = []
    """What the model has not read yet; kept only if content may be exported."""
    prompt: list[Message] = []


class _Call(Struct):
    request: CallRequest
    requested: float
    asked: float | None = None
    started: float | None = None


class TurnProjection:
    """Feed it every event from the first one on; `observe` returns what each of them completes."""

    def __init__(self, session: str, content: Content, masker: Masker) -> None:
        self._session = session
        self._content = content
        self._keeps_content = content.spans or content.events
        self._writer = ContentWriter(masker)
        self._model = ""
        self._turn: _Turn | None = None
        self._calls: dict[str, _Call] = {}

    def observe(self, envelope: Envelope) -> Iterator[Record]:
        ts = envelope.ts
        match envelope.event:
            case TextDelta() | ThoughtDelta():
                if self._turn is not None and self._turn.first_chunk is None:
                    self._turn.first_chunk = ts
            case SessionCreated(model=model) | ModelChanged(model=model):
                self._model = model
            case PromptSubmitted() as event:
                self._prompt(event, ts)
            case ContextLoaded() | OutputPruned():
                self._request_begins(ts)
            case ModelReplied() as event:
                yield from self._reply(event, ts)
            case ChatCompressed() as event:
                yield from self._compressed(event, ts)
            case SessionRenamed(model=str(model), usage=usage) if model:
                yield from _token_usage(usage, _asked(model))
            case TurnFinished() as event:
                yield from self._turn_over(event, ts)
            case _:
                yield from self._of_call(envelope)

    def _of_call(self, envelope: Envelope) -> Iterator[Record]:
        ts = envelope.ts
        match envelope.event:
            case CallRequested(request=request):
                self._calls[request.call_id] = _Call(request, ts)
            case ApprovalRequested(call_id=call_id) if call := self._calls.get(call_id):
                call.asked = ts
                yield self._log("assent.approval.requested", ts, call)
            case ApprovalAnswered(call_id=call_id) as event if call := self._calls.get(call_id):
                yield from self._answered(event, call, ts)
            case CallStarted(call_id=call_id) if call := self._calls.get(call_id):
                call.started = ts
            case CallFinished(call_id=call_id) as event if call := self._calls.pop(call_id, None):
                yield from self._call_over(event, call, ts)
            case _:
                pass

    # --- the turn ---

    def _prompt(self, event: PromptSubmitted, ts: float) -> None:
        said = [self._writer.prompt(event.text)] if self._keeps_content else []
        if self._turn is not None and self._turn.prompt_id == event.prompt_id:  # read in the middle of the turn
            self._turn.news += said
        else:
            self._turn = _Turn(prompt_id=event.prompt_id, started=ts, asked=ts, news=said, prompt=list(said))

    def _request_begins(self, ts: float) -> None:
        if self._turn is not None:
            self._turn.asked, self._turn.first_chunk = ts, None

    def _turn_over(self, event: TurnFinished, ts: float) -> Iterator[Record]:
        turn, self._turn = self._turn, None
        if turn is None:
            return
        error = event.failure.type if event.failure else "" if event.status == "completed" else event.status
        reason = event.failure.message if event.failure else ""
        if event.status == "failed" and error != "internal_error":
            yield from self._request_failed(turn, error, reason, ts)
        labels = {"gen_ai.agent.name": AGENT} | _error(error)
        yield Span(
            place=self._place(turn),
            name=f"invoke_agent {AGENT}",
            started=turn.started,
            ended=ts,
            attributes=self._common("invoke_agent")
            | labels
            | {"gen_ai.agent.version": __version__, "assent.turn.status": event.status}
            | _usage(event.usage)
            | self._messages("gen_ai.input.messages", turn.prompt),
            failed=bool(error),
            reason=reason,
        )
        yield Measurement("gen_ai.invoke_agent.duration", _between(turn.started, ts), labels)

    # --- the model ---

    def _reply(self, event: ModelReplied, ts: float) -> Iterator[Record]:
        self._model = event.model
        if (turn := self._turn) is None:
            return
        said = [self._writer.reply(event.parts, event.finish)] if self._keeps_content else []
        asked = _asked(event.model)
        values = asked | _usage(event.usage) | {"gen_ai.response.model": asked["gen_ai.request.model"]}
        values["gen_ai.response.finish_reasons"] = [finish_reason(event.finish, event.parts)]
        if event.cost is not None:
            values["assent.cost_usd"] = event.cost
        if turn.first_chunk is not None:
            waited = _between(turn.asked, turn.first_chunk)
            values["gen_ai.response.time_to_first_chunk"] = waited
            yield Measurement("gen_ai.client.operation.time_to_first_chunk", waited, asked)
        place = self._place(turn, f"chat {turn.asked!r}")
        yield from self._request(turn, place, values, asked, ts, news=turn.news, said=said)
        yield from _token_usage(event.usage, asked)
        turn.news = []
        self._request_begins(ts)

    def _request(
        self,
        turn: _Turn,
        place: Place,
        values: _Values,
        asked: _Values,
        ts: float,
        *,
        news: list[Message],
        said: list[Message],
        error: str = "",
        reason: str = "",
    ) -> Iterator[Record]:
        inputs, outputs = ("gen_ai.input.messages", news), ("gen_ai.output.messages", said)
        labels = self._common("chat") | values | _error(error)
        yield Span(
            place=place,
            parent=self._place(turn),
            name=f"chat {asked['gen_ai.request.model']}",
            kind="client",
            started=turn.asked,
            ended=ts,
            attributes=labels | self._messages(*inputs) | self._messages(*outputs),
            failed=bool(error),
            reason=reason,
        )
        yield Measurement("gen_ai.client.operation.duration", _between(turn.asked, ts), asked | _error(error))
        if self._content.events:
            yield self._details(place, ts, values, inputs, outputs)

    def _details(self, place: Place, ts: float, values: _Values, *named: tuple[str, list[Message]]) -> LogRecord:
        details = {name: self._writer.messages(messages) for name, messages in named if messages}
        attributes = self._common("chat") | values | details
        return LogRecord(event="gen_ai.client.inference.operation.details", ts=ts, place=place, attributes=attributes)

    def _request_failed(self, turn: _Turn, error: str, reason: str, ts: float) -> Iterator[Record]:
        asked = _asked(self._model)
        place = self._place(turn, f"chat {turn.asked!r}")
        more = {"exception.type": error, "exception.message": reason}
        yield from self._request(turn, place, asked, asked, ts, news=turn.news, said=[], error=error, reason=reason)
        yield LogRecord(
            event="gen_ai.client.operation.exception",
            ts=ts,
            place=place,
            level="error",
            attributes=self._common("chat") | asked | more,
        )

    def _compressed(self, event: ChatCompressed, ts: float) -> Iterator[Record]:
        asked = _asked(event.model or self._model)
        turn = self._turn
        if turn is not None and event.usage.total:
            place = self._place(turn, f"chat {turn.asked!r} summary")
            yield from self._request(turn, place, asked | _usage(event.usage), asked, ts, news=[], said=[])
        yield from _token_usage(event.usage, asked)
        self._request_begins(ts)

    # --- calls ---

    def _answered(self, event: ApprovalAnswered, call: _Call, ts: float) -> Iterator[Record]:
        asked = call.asked if call.asked is not None else call.requested
        tool = _tool(call)
        outcome: _Values = {"assent.approval.outcome": event.outcome}
        yield Span(
            place=Place(self._trace(call.request), f"approval {event.approval_id}"),
            parent=self._parent(call.request),
            name=f"approval {tool['gen_ai.tool.name']}",
            started=asked,
            ended=ts,
            attributes=self._common() | self._call(call) | outcome,
        )
        yield Measurement("assent.approval.duration", _between(asked, ts), tool | outcome)
        yield self._log("assent.approval.answered", ts, call, outcome | {"assent.approval.by": event.by})

    def _call_over(self, event: CallFinished, call: _Call, ts: float) -> Iterator[Record]:
        error = event.failure.type if event.failure else "" if event.status == "success" else event.status
        exists = error != "tool_not_registered"
        labels = _tool(call, exists=exists) | _error(error)
        started = call.started if call.started is not None else call.requested
        content: _Values = {}
        if self._content.spans:
            content["gen_ai.tool.call.arguments"] = self._writer.json(call.request.args)
            content["gen_ai.tool.call.result"] = self._writer.json(event.result.response)
        yield Span(
            place=self._call_place(call),
            parent=self._parent(call.request),
            name=f"execute_tool {labels['gen_ai.tool.name']}",
            started=started,
            ended=ts,
            attributes=self._common("execute_tool") | self._call(call, exists=exists) | labels | content,
            failed=bool(error),
        )
        if call.started is not None:
            seconds = event.ran_ms / 1000 if event.ran_ms is not None else _between(started, ts)
            yield Measurement("gen_ai.execute_tool.duration", seconds, labels | {"gen_ai.agent.name": AGENT})
        if self._turn is not None and self._keeps_content:
            self._turn.news.append(self._writer.result(call.request.call_id, event.result.response))
        self._request_begins(ts)

    # --- attributes and places ---

    def _common(self, operation: str = "") -> _Values:
        values: _Values = {"gen_ai.conversation.id": self._session}
        return values | ({"gen_ai.operation.name": operation} if operation else {})

    def _call(self, call: _Call, *, exists: bool = True) -> _Values:
        request = call.request
        who: _Values = {"gen_ai.tool.call.id": request.call_id, "assent.call.initiator": request.initiator}
        return _tool(call, exists=exists) | {"gen_ai.tool.type": "function"} | who

    def _messages(self, name: str, messages: list[Message]) -> _Values:
        return {name: self._writer.messages(messages)} if self._content.spans and messages else {}

    def _log(self, event: str, ts: float, call: _Call, more: _Values | None = None) -> LogRecord:
        attributes = self._common() | self._call(call) | (more or {})
        return LogRecord(event=event, ts=ts, place=self._call_place(call), attributes=attributes)

    def _trace(self, request: CallRequest) -> str:
        """A call that no prompt led to is a trace of its own."""
        return f"{self._session}/{request.prompt_id or request.call_id}"

    def _call_place(self, call: _Call) -> Place:
        return Place(self._trace(call.request), f"call {call.request.call_id}")

    def _parent(self, request: CallRequest) -> Place | None:
        if self._turn is None or self._turn.prompt_id != request.prompt_id:
            return None
        return self._place(self._turn)

    def _place(self, turn: _Turn, span: str = "turn") -> Place:
        return Place(f"{self._session}/{turn.prompt_id}", span)


def _asked(model: str) -> _Values:
    provider, name = provider_and_model(model)
    return {"gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": name}


def _tool(call: _Call, *, exists: bool = True) -> _Values:
    return {"gen_ai.tool.name": call.request.tool if exists else OTHER}


def _error(type_: str) -> _Values:
    return {"error.type": type_} if type_ else {}


def _usage(usage: Usage) -> _Values:
    """Output includes the thoughts, as the conventions want it; what a provider did not count is left out."""
    counted = {
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.output_tokens": usage.output + usage.thoughts,
        "gen_ai.usage.reasoning.output_tokens": usage.thoughts,
        "gen_ai.usage.cache_read.input_tokens": usage.cached,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_written,
    }
    return {name: number for name, number in counted.items() if number}


def _token_usage(usage: Usage, asked: _Values) -> Iterator[Record]:
    for type_, tokens in (("input", usage.input), ("output", usage.output + usage.thoughts)):
        if tokens:
            yield Measurement("gen_ai.client.token.usage", tokens, asked | {"gen_ai.token.type": type_})


def _between(started: float, ended: float) -> float:
    """Clocks can be set back."""
    return max(0.0, ended - started)
