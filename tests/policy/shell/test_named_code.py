"""What a rule that names code, a script or a setting covers."""

from importlib import import_module
from types import ModuleType

import pytest

from assent.plan import Stage
from assent.policy.shell import judge, rules
from assent.policy.shell.python_code import MODULES, only_computes


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "code",
    [
        "import sys; print(sys.version)",
        "import requests; print(requests.__version__)",
        "import json, sys; print(json.load(sys.stdin)['a'])",
        "print(sum(x * x for x in range(10)))",
        "from datetime import date; print(date.today())",
        "import sys; sys.stdout.write('x')",
        "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())",
        "import platform; print(platform.machine(), ' a b '.strip().split())",
        "import re, math; print(re.findall('a', 'banana'), math.sqrt(2))",
    ],
)
def test_code_that_only_computes_is_covered_by_a_rule_for_it(code: str) -> None:
    assert only_computes(code)


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "code",
    [
        *(
            "open('x')",
            "__import__('os')",
            "eval('x')",
            "getattr(x, 'y')",
            "import sys; sys.modules['os']",
        ),
        *("import json; json.codecs.open('x')", "import random; random._os", "().__class__", "from os import system"),
        *("import evil; evil.run()", "import evil as json; json.run()", "from json import *", "def f(): pass", "("),
        *("import platform; platform.os.system('x')", "breakpoint()", "x" * 3_000),
        *("import sys; type(sys.stdout.buffer.raw)('x', 'w')", "import enum; enum.bltns.exec('x')"),
        "(x for x in [1]).gi_frame.f_builtins['open']('x', 'w')",
        "import sys; x = type(sys)\nmatch sys:\n case x(modules=m): m['posix'].mkdir('x')",
        "import string, sys; string.Formatter().get_field('0.modules[posix]', [sys], {})[0].mkdir('x')",
        "import typing; typing.get_type_hints(type('X', (), {'__annotations__': {'a': 'exit()'}}))",
    ],
)
def test_code_that_reaches_further_is_not(code: str) -> None:
    assert not only_computes(code)


def test_no_other_module_can_be_reached_from_one_that_computes() -> None:
    found = [import_module(name) for name in sorted(MODULES)]
    for module in found:
        for name in dir(module):
            value = getattr(module, name) if only_computes(f"x.{name}") else None
            if isinstance(value, ModuleType) and value not in found:
                found.append(value)
    assert {module.__name__.partition(".")[0] for module in found} <= MODULES


def plan_of(command: str, *allow: str) -> list[tuple[str, list[str], dict[str, str]]]:
    plan = judge(command, rules(allow), cwd="/w", roots=["/w"]).plan
    assert plan is not None, command
    stages = [(step.join, stage) for step in plan.steps for stage in step.stages if isinstance(stage, Stage)]
    return [(join, [word.text for word in stage.words], dict(stage.env)) for join, stage in stages]


def test_settings_of_a_script_become_the_form_that_runs() -> None:
    assert plan_of("set -e; mytool a; mytool b", "mytool") == [("", ["mytool", "a"], {}), ("&&", ["mytool", "b"], {})]
    assert plan_of("export CI=1 && mytool a; mytool b", "mytool") == [
        ("", ["mytool", "a"], {"CI": "1"}),
        (";", ["mytool", "b"], {"CI": "1"}),
    ]
    assert plan_of("set -euo pipefail; mytool", "mytool") == [("", ["mytool"], {})]


@pytest.mark.parametrize(
    "command",
    [
        *("set -e; mytool || mytool a; mytool b", "set -euo pipefail; mytool | mytool a", "set -x; mytool", "set -e"),
        *(
            "export PATH=.; mytool",
            "export A=$B; mytool",
            "export -n A; mytool",
            "mytool; export CI=1",
            "set -e | mytool",
        ),
        *("set -e && (mytool; mytool); mytool", "set -e | mytool"),
        *("set -e; v=$(mytool a); mytool b", "set -e; x=a; v=$(mytool a); mytool b"),
    ],
)
def test_other_settings_stay_commands_and_ask(command: str) -> None:
    assert judge(command, rules(["mytool"]), cwd="/w", roots=["/w"]).decision == "ask"
