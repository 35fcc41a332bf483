"""What of a URL is shown is told from its password, or the URL is refused without a word of it."""

import pytest

from turnwright.journal.authority import split
from turnwright.journal.drivers import open_driver
from turnwright.journal.errors import InvalidInput


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://host/db",
        "postgresql://ann:secret@host:5432/db",
        "postgresql://ann:se%2Fcr%40et@host/db",
        "postgresql://ann:se:cret@host/db",
        "postgresql://ann@[::1]:5432/db",
        "postgresql://ann:secret@one:5432,two:5433/db",
        "postgresql:///db?host=/run&user=ann@server",
        "postgresql://ann:@/db?host=/run/postgres",
        "postgresql://host/db?user=ann@server",
        "postgresql://%2Frun%2Fpostgres/db",
        "postgresql://ann@host/d@b",
        "sqlite:////srv/a@b/journal.db",
        "sqlite:///journal#1.db",
    ],
)
def test_a_url_whose_host_can_be_told_is_read(url: str) -> None:
    assert split(url, "it").scheme in url


@pytest.mark.parametrize(
    "password", ["a/z", "12/z", "a?z", "12?z", "a#z", "12#z", "a@z", "a[z", "a]z", "[a]z", "/z", "?z"]
)
def test_a_password_that_is_written_as_it_is_is_refused_and_not_shown(password: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        open_driver(f"postgresql://ann:{password}@host/db")
    assert str(refused.value).startswith(
        "the journal's URL names no host that can be read; in a user's name and password"
    )
    assert "z" not in str(refused.value)
    assert refused.value.__cause__ is None
