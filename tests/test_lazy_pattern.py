"""Patterns that are compiled when they are first used."""

import gc
import importlib
import pkgutil
import re

import pytest

import assent.policy
from assent.lazy_pattern import lazy_pattern


def test_a_lazy_pattern_behaves_like_a_compiled_one():
    pattern = lazy_pattern(r"(\w)-", re.IGNORECASE)
    assert pattern.sub(r"\1+", "a-b-") == "a+b+"
    assert [found[1] for found in pattern.finditer("a-b-")] == ["a", "b"]
    assert pattern.pattern == r"(\w)-" and pattern.flags == re.IGNORECASE


def test_a_mistake_is_found_when_the_pattern_is_used():
    pattern = lazy_pattern("(")
    with pytest.raises(re.error):
        pattern.search("x")


def test_every_lazy_pattern_of_the_policy_can_be_compiled():
    for module in pkgutil.walk_packages(assent.policy.__path__, "assent.policy."):
        importlib.import_module(module.name)
    kind = type(lazy_pattern(""))
    texts = {found.pattern for found in gc.get_objects() if type(found) is kind} - {"("}
    assert len(texts) > 200
    for text in texts:
        re.compile(text)
