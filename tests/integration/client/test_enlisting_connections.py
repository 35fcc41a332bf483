"""Which connections a submit may join; any other is refused with its transaction unharmed."""

from collections.abc import AsyncIterator
from typing import Any, TypeAlias

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine

from tests.integration.client.conftest import Connect
from tests.integration.client.hands import AGENT
from turnwright.client import Session
from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.journal.errors import InvalidInput
from turnwright.journal.transact.enlisting import find_inbox

postgres = pytest.mark.parametrize("journal_url", ["postgres"], indirect=True)
Caller: TypeAlias = Any  # a connection of asyncpg, which ships no types


@pytest.fixture
async def caller(postgres_server: str) -> AsyncIterator[Caller]:
    connection = await asyncpg.connect(postgres_server)
    yield connection
    await connection.close()


@pytest.fixture
async def engine(postgres_server: str) -> AsyncIterator[AsyncEngine]:
    engine = create_async_engine("postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(postgres_server))
    yield engine
    await engine.dispose()


async def enlisted(driver: Driver) -> int:
    """Threads that something committed waits for."""
    return len((await driver.read(lambda: find_inbox(0, 100))).keys)


@postgres
async def test_a_connection_of_a_pool_is_one(session: Session, driver: Driver, postgres_server: str) -> None:
    async with asyncpg.create_pool(postgres_server, min_size=1, max_size=1) as pool:
        async with pool.acquire() as connection, connection.transaction():
            await session.submit("hello", agent=AGENT, connection=connection)
        assert await enlisted(driver) == 1


@postgres
@pytest.mark.parametrize("end", ["commit", "rollback"])
async def test_sqlalchemy_s_connections_are_ones(
    session: Session, driver: Driver, engine: AsyncEngine, end: str
) -> None:
    async with engine.connect() as connection:
        turn = await session.submit("hello", agent=AGENT, request_id="r", connection=connection)
        again = await session.submit("hello", agent=AGENT, request_id="r", connection=connection)
        assert turn.receipt is not None
        assert again.receipt is not None
        assert (turn.receipt.status, again.receipt.duplicate) == ("enlisted", True)
        assert await enlisted(driver) == 0
        await getattr(connection, end)()
    assert await enlisted(driver) == (end == "commit")


@postgres
@pytest.mark.parametrize("end", ["commit", "rollback"])
async def test_sqlalchemy_s_sessions_are_ones(session: Session, driver: Driver, engine: AsyncEngine, end: str) -> None:
    async with AsyncSession(engine) as work:
        await session.submit("hello", agent=AGENT, connection=work)
        assert await enlisted(driver) == 0
        await getattr(work, end)()
    assert await enlisted(driver) == (end == "commit")


@postgres
async def test_one_that_is_in_no_transaction_is_refused(
    session: Session, driver: Driver, caller: Caller, engine: AsyncEngine
) -> None:
    with pytest.raises(InvalidInput, match="in no transaction"):
        await session.submit("hello", agent=AGENT, connection=caller)
    async with engine.connect() as connection:
        await connection.execution_options(isolation_level="AUTOCOMMIT")
        with pytest.raises(InvalidInput, match="in no transaction"):
            await session.submit("hello", agent=AGENT, connection=connection)
    assert await enlisted(driver) == 0


@postgres
async def test_what_is_no_such_connection_is_refused_by_its_name(session: Session, engine: AsyncEngine) -> None:
    for wrong in (engine, engine.sync_engine, "postgresql://here", object()):
        with pytest.raises(InvalidInput, match=type(wrong).__qualname__):
            await session.submit("hello", agent=AGENT, connection=wrong)


@pytest.mark.parametrize("journal_url", ["sqlite"], indirect=True)
async def test_a_journal_in_a_file_is_in_nobody_s_transaction(session: Session) -> None:
    with pytest.raises(InvalidInput, match="only if the journal is in PostgreSQL"):
        await session.submit("hello", agent=AGENT, connection=object())


async def still_works(caller: Caller) -> bool:
    """Whether the transaction may go on, and is the caller's to end."""
    return bool(caller.is_in_transaction()) and await caller.fetchval("SELECT 1") == 1


@postgres
async def test_a_transaction_that_may_not_write_is_refused_and_goes_on(session: Session, caller: Caller) -> None:
    async with caller.transaction(readonly=True):
        with pytest.raises(InvalidInput, match="read-only"):
            await session.submit("hello", agent=AGENT, connection=caller)
        assert await still_works(caller)


@postgres
async def test_a_user_who_may_not_write_to_the_inbox_is_told_what_to_grant_and_with_that_it_works(
    session: Session, driver: Driver, caller: Caller, journal_url: str
) -> None:
    schema, role = journal_url.rpartition("=")[2], "shop"
    await caller.execute(f"DROP ROLE IF EXISTS {role}; CREATE ROLE {role}")
    try:
        async with caller.transaction():
            await caller.execute(f"SET LOCAL ROLE {role}")
            with pytest.raises(InvalidInput, match=f"GRANT USAGE ON SCHEMA {schema}, SELECT, INSERT ON"):
                await session.submit("hello", agent=AGENT, connection=caller)
            assert await still_works(caller)
        for what in (f"USAGE ON SCHEMA {schema}", f"SELECT, INSERT ON {schema}.inbox", f"SELECT ON {schema}.meta"):
            await caller.execute(f"GRANT {what} TO {role}")
        async with caller.transaction():
            await caller.execute(f"SET LOCAL ROLE {role}")
            await session.submit("hello", agent=AGENT, connection=caller)
        assert await enlisted(driver) == 1
    finally:
        await caller.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


@postgres
async def test_another_database_is_refused_and_its_transaction_goes_on(
    session: Session, driver: Driver, connect: Connect, postgres_server: str, journal_url: str
) -> None:
    caller = await asyncpg.connect(postgres_server)
    place, _, schema = journal_url.partition("&schema=")
    await caller.execute("DROP DATABASE IF EXISTS other; ")
    await caller.execute("CREATE DATABASE other")
    await caller.close()
    elsewhere = place.replace("/postgres?", "/other?")
    assert elsewhere != place
    other = await asyncpg.connect(elsewhere)
    try:
        async with other.transaction():
            with pytest.raises(InvalidInput, match=f"no journal of this version in the schema {schema}"):
                await session.submit("hello", agent=AGENT, connection=other)
            assert await still_works(other)
        second = open_driver(f"{elsewhere}&schema={schema}")
        await second.start()
        await second.migrate()
        await second.stop()
        async with other.transaction():
            with pytest.raises(InvalidInput, match="another journal than the client's"):
                await session.submit("hello", agent=AGENT, connection=other)
            assert await still_works(other)
    finally:
        await other.close()
    assert await enlisted(driver) == 0
