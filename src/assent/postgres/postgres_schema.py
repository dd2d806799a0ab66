"""The tables of the log in PostgreSQL, and the migrations from each older version to the newest.

All of them are in one schema of their own, so that the database may be shared with other programs.
"""

from assent.audit import FIRST
from assent.postgres.connection_protocol import Connection
from assent.session.log import LogUnavailable

_FIRST = """
CREATE TABLE sessions (
    id text PRIMARY KEY, epoch bigint NOT NULL DEFAULT 0, next_seq bigint NOT NULL, folder text NOT NULL,
    model text NOT NULL, title text NOT NULL DEFAULT '', created_at float8 NOT NULL, updated_at float8 NOT NULL,
    mode text NOT NULL DEFAULT 'default', owner text NOT NULL DEFAULT '', client text NOT NULL DEFAULT '',
    unfinished boolean NOT NULL DEFAULT false, held boolean NOT NULL DEFAULT false
);
CREATE INDEX sessions_by_update ON sessions (updated_at DESC, id DESC);
CREATE INDEX sessions_by_folder ON sessions (folder, updated_at DESC);
CREATE TABLE events (
    session text NOT NULL, seq bigint NOT NULL, ts float8 NOT NULL, type text NOT NULL, v integer NOT NULL,
    data bytea NOT NULL, PRIMARY KEY (session, seq)
);
CREATE INDEX prompts ON events (session, ts) WHERE type = 'prompt.submitted';
CREATE TABLE inbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session text NOT NULL, key text NOT NULL,
    taken timestamptz, data bytea NOT NULL, UNIQUE (session, key)
);
CREATE INDEX inbox_waiting ON inbox (session, id) WHERE taken IS NULL;
CREATE INDEX inbox_by_age ON inbox (taken) WHERE taken IS NOT NULL;
CREATE TABLE approvals (
    session text NOT NULL, call_id text NOT NULL, asked_at float8 NOT NULL, expires_at float8, data bytea NOT NULL,
    PRIMARY KEY (session, call_id)
);
CREATE INDEX approvals_by_age ON approvals (asked_at, session, call_id);
CREATE INDEX approvals_expire ON approvals (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE stamps (
    key text PRIMARY KEY, digest bytea NOT NULL, session text NOT NULL, at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX stamps_by_age ON stamps (at);
CREATE INDEX stamps_by_session ON stamps (session);
CREATE TABLE spending (
    session text NOT NULL, day text NOT NULL, requests bigint NOT NULL, tokens bigint NOT NULL,
    dollars float8 NOT NULL, unpriced bigint NOT NULL, PRIMARY KEY (session, day)
);
CREATE INDEX spending_by_day ON spending (day)"""
_AUDIT = f"""
CREATE TABLE audit (
    id bigint PRIMARY KEY, previous text NOT NULL, hash text NOT NULL, ts float8 NOT NULL, kind text NOT NULL,
    session text NOT NULL, owner text NOT NULL, by text NOT NULL, data bytea NOT NULL
);
CREATE INDEX audit_by_session ON audit (session);
CREATE TABLE audit_ends (which text PRIMARY KEY, id bigint NOT NULL, hash text NOT NULL);
INSERT INTO audit_ends VALUES ('start', 0, '{FIRST}'), ('head', 0, '{FIRST}');
CREATE FUNCTION audit_refuses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.id <= (SELECT id FROM audit_ends WHERE which = 'start') THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit can only be added to and pruned';
END $$;
CREATE TRIGGER audit_unchanged BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_refuses()"""
_ARCHIVE = "ALTER TABLE sessions ADD COLUMN archived boolean NOT NULL DEFAULT false"
_WORKERS = """
CREATE TABLE workers (
    host text NOT NULL, port integer NOT NULL, secret text NOT NULL, seen timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (host, port)
)"""
_RECORDS = """
CREATE TABLE records (
    kind text NOT NULL, key bytea NOT NULL, data bytea, version bigint NOT NULL,
    changed timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (kind, key)
);
CREATE INDEX records_by_version ON records (version);
CREATE TABLE records_version (version bigint NOT NULL);
INSERT INTO records_version VALUES (1);
CREATE UNLOGGED TABLE limits (
    kind text NOT NULL, who text NOT NULL, spare float8 NOT NULL, granted float8 NOT NULL, at timestamptz NOT NULL,
    PRIMARY KEY (kind, who)
);
CREATE INDEX limits_by_age ON limits (at)"""
_BY_OWNER = """
ALTER TABLE approvals ADD COLUMN owner text NOT NULL DEFAULT '';
UPDATE approvals SET owner = (SELECT owner FROM sessions WHERE id = approvals.session);
CREATE INDEX approvals_by_owner ON approvals (owner, asked_at, session, call_id);
CREATE INDEX sessions_by_owner ON sessions (owner, archived, updated_at DESC, id DESC)"""
"""The owner of a session never changes."""
_BLOBS = """
CREATE TABLE blobs (
    session text NOT NULL, name text NOT NULL, part integer NOT NULL, size bigint NOT NULL, data bytea NOT NULL,
    PRIMARY KEY (session, name, part)
);
ALTER TABLE blobs ALTER COLUMN data SET STORAGE EXTERNAL"""
_OLDEST = "ALTER TABLE layout ADD COLUMN oldest integer NOT NULL DEFAULT 0"
VERSIONS = (_FIRST, _AUDIT, _ARCHIVE, _WORKERS, _BY_OWNER, _RECORDS, _OLDEST, _BLOBS)
"""Each creates its version from the one before."""
CURRENT = len(VERSIONS)
OLDEST_COMPATIBLE = 7
"""Processes of this version and newer ones can use these tables as well, so that nodes can be upgraded one by one. A
migration that only adds what older processes need not know does not change this."""
_MIGRATING = 0x0A55E27
"""The advisory lock that the migrating process holds."""
_HAS_LAYOUT = """
SELECT EXISTS (
    SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'layout'
)"""


async def migrate(connection: Connection, schema: str) -> None:
    """All or nothing, even if several machines start at once."""
    if await _is_usable(connection, schema):
        return
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _MIGRATING)
        if await _is_usable(connection, schema):
            return
        version = await _version(connection, schema)
        if version > CURRENT:
            raise LogUnavailable(
                f"the schema {schema!r} was written by a newer Assent (version {version}); upgrade Assent"
            )
        await _upgrade(connection, schema, version)


async def _upgrade(connection: Connection, schema: str, version: int) -> None:
    if version == 0:
        await connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
        await connection.execute(f'CREATE TABLE "{schema}".layout (version integer NOT NULL)')
        await connection.execute(f'INSERT INTO "{schema}".layout VALUES (0)')
    for statements in VERSIONS[version:]:
        await connection.execute(statements)
    await connection.execute(f'UPDATE "{schema}".layout SET version = $1, oldest = $2', CURRENT, OLDEST_COMPATIBLE)


async def _is_usable(connection: Connection, schema: str) -> bool:
    version = await _version(connection, schema)
    if version <= CURRENT:
        return version == CURRENT
    return await connection.fetchval(f'SELECT oldest FROM "{schema}".layout') <= CURRENT


async def _version(connection: Connection, schema: str) -> int:
    """Looks into the catalogue itself: `to_regclass` may remember that there was no table before the lock."""
    found = await connection.fetchval(_HAS_LAYOUT, schema)
    return await connection.fetchval(f'SELECT version FROM "{schema}".layout') if found else 0
