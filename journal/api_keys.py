"""API keys: what the bearer of a secret may do, and with which of a tenant's data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from turnwright.journal.messages import Frozen

Role = Literal["caller", "operator", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
LIFE_DAYS_MAX = 3_660
LIFE_S_MAX = LIFE_DAYS_MAX * 86_400


class Grant(Frozen):
    """What a bearer may do. `name` stands in the records as who acts; `user` None: the anonymous one.

    A `caller` has what is its user's; an `operator` and an `admin` have what is any user's of the tenant, and `user`
    is whose sessions are meant where none is named.
    """

    name: str
    role: Role
    user: str | None = None


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key without its secret. Times are microseconds since 1970 UTC by the store's clock; None: never."""

    key_id: str
    tenant: str
    grant: Grant
    created_us: int
    expires_us: int | None = None
    revoked_us: int | None = None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made; `token` is what its bearer sends, and is shown only here."""

    key: ApiKey
    token: str = field(repr=False)
