"""A URL that names no place for snapshots is refused in one sentence; so is one whose driver is not installed."""

import re
import subprocess
import sys

import pytest

from turnwright.journal.errors import InvalidInput
from turnwright.journal.snapshots.opening import snapshots_at

PROGRAM = """
import sys
sys.modules.update(dict.fromkeys({absent!r}))
from turnwright.journal.errors import InvalidInput
from turnwright.journal.snapshots.opening import snapshots_at
for url in {urls!r}:
    try:
        snapshots_at(url)
    except InvalidInput as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "'no scheme' is no store of snapshots"),
        ("mongodb://host", "'mongodb' is no store of snapshots; use memory:, file:///folder, redis://"),
        ("postgresql://host/shop", "'postgresql' is no store of snapshots"),
        ("file://host/folder", "named as file:///srv/shop/snapshots"),
        ("file:///", "named as file:///srv/shop/snapshots"),
        ("file:///srv?table=x", "named as file:///srv/shop/snapshots"),
        ("redis://host:port/0", "names no host"),
        ("redis://host/0?colour=blue", "names no Redis"),
        ("postgresql+asyncpg://host:port/shop", "names no database"),
        ("sqlite+aiosqlite://host/file", "names no database"),
        ("sqlite+aiosqlite:////srv/shop.db?table=a-b", "'a-b' cannot name the table of snapshots"),
    ],
)
def test_a_url_that_names_no_place_is_refused(url: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        snapshots_at(url)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "redis://:sec/ret@host/0",
        "redis://:12/secret@host/0",
        "redis://:sec#ret@host/0",
        "redis://:sec[ret@host/0",
        "mysql+asyncmy://ann:a@sec:ret@host/shop",
    ],
)
def test_a_refusal_shows_no_part_of_a_password(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        snapshots_at(url)
    assert not {"sec", "ret"} & set(re.split(r"\W+", str(caught.value)))
    assert "secret" not in str(caught.value)


def test_a_driver_that_is_not_installed_is_named_with_what_installs_it() -> None:
    urls = ["redis://host", "mysql+asyncmy://host/shop", "file:///srv/shop", "memory:"]
    program = PROGRAM.format(absent=["redis", "asyncmy"], urls=urls)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "these snapshots need redis: pip install 'turnwright[redis]'",
        "these snapshots need asyncmy: pip install 'turnwright[sql]'",
    ]
    program = PROGRAM.format(absent=["sqlalchemy"], urls=["sqlite+aiosqlite:////srv/shop.db"])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "these snapshots need sqlalchemy: pip install 'turnwright[sql]'\n"


def test_the_name_of_a_place_holds_no_password() -> None:
    urls = (
        "redis://ann:secret@host:6379/0?prefix=shop:",
        "redis://host/0?password=secret",
        "postgresql+asyncpg://ann:secret@host/shop?table=kept",
    )
    names = [snapshots_at(url).name for url in urls]
    assert names == [
        "redis://host:6379/0?prefix=shop%3A",
        "redis://host/0?prefix=turnwright%3A",
        "postgresql+asyncpg://host/shop?table=kept",
    ]
