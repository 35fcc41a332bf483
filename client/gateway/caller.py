"""Who asks, and whose data they may ask for.

Rule: tenant and name come from the credential and from nowhere else. A path or a query may name a user only where the
credential reaches every user of its tenant; what it does not reach is as if it were not there.
"""

from __future__ import annotations

from dataclasses import dataclass

from turnwright.client.errors import NotFound
from turnwright.client.gateway.problems import Forbidden
from turnwright.journal.api_keys import ROLES, Grant, Role
from turnwright.journal.ids import SessionKey, ThreadKey


@dataclass(frozen=True, slots=True)
class Caller:
    """A tenant, and what the credential grants in it.

    `key_id` names an API key, if it was one; `until_s` is when a token ends, in seconds since 1970 UTC.
    """

    tenant: str
    grant: Grant
    key_id: str | None = None
    until_s: float | None = None

    @property
    def principal(self) -> str:
        """Who acts, for the records."""
        return self.grant.name

    @property
    def reaches_all(self) -> bool:
        """Whether every user's sessions are within reach."""
        return self.grant.role != "caller"

    def needs(self, role: Role) -> None:
        """Raises `Forbidden` for a lesser role than this."""
        if ROLES.index(self.grant.role) < ROLES.index(role):
            raise Forbidden(f"this needs the role {role}; the credential has the role {self.grant.role}")

    def session(self, session: str, user: str | None, *, anonymous: bool) -> SessionKey:
        """The session of that name: the user's that is named, the anonymous one's, else the credential's own.

        Raises:
            NotFound: it is another user's than the credential reaches.
            InvalidInput: the id can be none.
        """
        owner = None if anonymous else self.grant.user if user is None else user
        return self.checked(SessionKey(self.tenant, owner, session).checked())

    def checked(self, key: SessionKey) -> SessionKey:
        """The key itself, if the credential reaches it. Raises `NotFound`."""
        if not self.reaches(key):
            raise NotFound.session(key)
        return key

    def reaches(self, key: SessionKey | ThreadKey) -> bool:
        """Whether what has this key is within reach."""
        return key.tenant == self.tenant and (self.reaches_all or key.user == self.grant.user)
