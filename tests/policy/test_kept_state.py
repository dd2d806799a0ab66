"""Grants, trust, pins and approved files: the same in the files of one machine and in a database that nodes share."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assent.app.rule_sources import approved_files, kept_grants, pin_store, trust_store
from assent.app.storage import open_log, shared_state
from assent.approval import Grant, InfoDetails
from assent.mcp.definitions import Definition
from assent.mcp.shared_pins import SharedPins
from assent.plan import ExecutedFile
from assent.policy.action import Action
from assent.policy.policy import Policy
from assent.policy.shared_grants import SharedGrants
from assent.postgres.postgres_log import PostgresLog
from assent.shared_records import SharedRecords
from support.program import Program
from support.waiting import WAIT_LIMIT

POSTGRES = pytest.param("postgres", marks=[pytest.mark.needs("postgres"), pytest.mark.spec("M3")])
GRANT = Grant(id="g1", kind="domain", tool="web_fetch", reach="…", value="example.org", from_call="c1", lasts="folder")


@pytest.fixture(params=["files", POSTGRES])
async def env(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[dict[str, str]]:
    env = {"ASSENT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    if request.param == "files":
        yield env
        return
    env["ASSENT_LOG"] = request.getfixturevalue("database")
    log = open_log(env)
    shared = shared_state(log)
    assert shared is not None
    await shared.records.refresh()
    yield env
    await log.close()


@pytest.fixture
async def elsewhere(database: str) -> AsyncIterator[SharedRecords]:
    """Another node of the cluster."""
    log = PostgresLog(database)
    await log.records.refresh()
    yield log.records
    await log.close()


async def test_a_grant_for_a_folder_holds_there_until_it_is_dropped(env: dict[str, str]):
    here = kept_grants(env, "/w")
    here.keep(GRANT)
    await here.settled()
    assert [grant.id for grant in kept_grants(env, "/w").standing()] == ["g1"]
    assert not kept_grants(env, "/elsewhere").standing()
    assert kept_grants(env, "/w").drop("g1")
    assert not kept_grants(env, "/w").drop("g1")
    assert not kept_grants(env, "/w").standing()


async def test_a_grant_for_all_folders_holds_in_every_one(env: dict[str, str]):
    kept_grants(env, "/w").keep(Grant(id="g2", kind="tool", tool="t", reach="…", from_call="c", lasts="everywhere"))
    kept_grants(env, "/w").keep(Grant(id="g3", kind="tool", tool="t", reach="…", from_call="c"))
    assert [grant.id for grant in kept_grants(env, "/elsewhere").standing()] == ["g2"]


async def test_a_folder_is_trusted_with_its_content_until_that_changes(env: dict[str, str], tmp_path: Path):
    folder = tmp_path / "project"
    (folder / ".assent").mkdir(parents=True)
    rules = folder / ".assent/policy.toml"
    rules.write_text("")
    store = trust_store(env)
    assert store.look(folder).state == "untrusted"
    store.trust(folder, store.look(folder))
    assert trust_store(env).look(folder).state == trust_store(env).rules(folder).state == "trusted"
    rules.write_text("# changed")
    assert trust_store(env).look(folder).changed == (".assent/policy.toml",)
    store.forget(folder)
    assert trust_store(env).look(folder).state == "untrusted"


async def test_a_server_is_pinned_at_first_sight_and_a_changed_tool_is_unseen(env: dict[str, str]):
    tool, changed = definition("does this"), definition("does that")
    pin_store(env).of("server").look([tool])
    again = pin_store(env).of("server")
    again.look([changed])
    assert not again.unseen(tool)
    assert "changed" in again.unseen(changed)
    again.accept(changed)
    assert not pin_store(env).of("server").unseen(changed)


async def test_a_file_is_approved_with_its_content(env: dict[str, str]):
    files = approved_files(env, "/w")
    files.approve([ExecutedFile("/w/run.sh", "1")])
    assert not approved_files(env, "/w").unapproved([ExecutedFile("/w/run.sh", "1")])
    (unapproved,) = approved_files(env, "/w").unapproved([ExecutedFile("/w/run.sh", "2")])
    assert unapproved.changed


def definition(description: str) -> Definition:
    return Definition(
        name="mcp_s_t", tool="t", title="", description=description, schema={}, read_only=False, digest=description
    )


# --- several nodes ---


@pytest.mark.needs("postgres")
@pytest.mark.spec("M3")
async def test_a_session_that_is_open_follows_what_is_granted_and_revoked_at_another_node(
    database: str, elsewhere: SharedRecords
):
    log = open_log({"ASSENT_LOG": database})
    shared = shared_state(log)
    assert shared is not None
    await shared.records.refresh()
    policy = Policy(roots=("/w",), keeper=SharedGrants(shared.records, "/w"))
    fetch = Action(
        tool="web_fetch",
        args={},
        details=InfoDetails("fetch", urls=("https://example.org/x",)),
        main="https://example.org/x",
        paths=(),
    )
    assert policy.judge(fetch).ruling == "ask"
    there = SharedGrants(elsewhere, "/w")
    there.keep(GRANT)
    await there.settled()
    await until_ruling(policy, fetch, "allow")
    there.drop("g1")
    await there.settled()
    await until_ruling(policy, fetch, "ask")
    await log.close()


async def until_ruling(policy: Policy, action: Action, ruling: str) -> None:
    async with asyncio.timeout(WAIT_LIMIT):
        while policy.judge(action).ruling != ruling:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


@pytest.mark.needs("postgres")
@pytest.mark.spec("M3")
def test_trust_given_on_the_command_line_of_one_machine_holds_on_another(tmp_path: Path, database: str):
    program = Program(tmp_path)
    (program.folder / ".assent").mkdir()
    (program.folder / ".assent/policy.toml").write_text("")
    shared = {"ASSENT_LOG": database}
    assert "untrusted" in program.run("policy", env=shared).out
    assert program.run("trust", "--yes", env=shared).code == 0
    assert not (Path(program.home) / "trust.json").exists()
    second = shared | {"ASSENT_HOME": str(Path(program.home).with_name("second"))}
    assert "untrusted" not in program.run("policy", env=second).out
    assert program.run("trust", "--forget", env=second).code == 0
    assert "untrusted" in program.run("policy", env=shared).out


async def test_without_an_open_database_nothing_is_granted_and_nothing_can_be(tmp_path: Path):
    env = {"ASSENT_HOME": str(tmp_path), "ASSENT_LOG": "postgresql://nobody@/nothing?host=/nowhere"}
    assert not kept_grants(env, "/w").standing()
    assert isinstance(pin_store(env), SharedPins)
    with pytest.raises(OSError, match="not open"):
        kept_grants(env, "/w").keep(GRANT)
