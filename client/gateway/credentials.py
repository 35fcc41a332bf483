"""From what a request brings to who asks: API keys of the journal, and JWTs of an issuer that is trusted.

Rule: whatever is wrong with a credential, the answer is the same; what it was is logged without the credential. What
cannot be told now is no fault of the credential, and whoever is told otherwise throws a good one away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import jwt
import structlog
from jwt import InvalidTokenError, PyJWTError

from turnwright.client.gateway.caller import Caller
from turnwright.client.gateway.key_set import KeySet
from turnwright.client.gateway.problems import Unauthenticated
from turnwright.journal.api_keys import ROLES, Grant
from turnwright.journal.driver import Driver
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import checked_part
from turnwright.journal.store_keys import MARK, find_bearer

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
TOKEN_CHARACTERS_MAX = 8_192
LEEWAY_S = 30
FAR_S = 2**40
REQUIRED_CLAIMS = ("exp", "iss", "aud", "sub")
REFUSED = "send a valid credential as `Authorization: Bearer …`"

log = structlog.get_logger(__name__)


class Credentials(Protocol):
    """One kind of credential."""

    def takes(self, token: str) -> bool:
        """Whether a token looks like one of this kind."""
        ...

    async def caller(self, token: str) -> Caller | None:
        """Whose it is; None: nobody's."""
        ...


@dataclass(frozen=True, slots=True)
class ApiKeys:
    """The keys that `turnwright keys create` makes. A revoked one is refused, and ends its open streams."""

    driver: Driver

    def takes(self, token: str) -> bool:
        """They begin with a mark of their own."""
        return token.startswith(f"{MARK}_")

    async def caller(self, token: str) -> Caller | None:
        """Whose key it is."""
        key = await find_bearer(self.driver, token)
        return None if key is None else Caller(key.tenant, key.grant, key.key_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class JwtSettings:
    """Whose tokens are trusted, and which claims say what.

    A token without the tenant's claim is refused; one without the role's is a caller's. Its user is the claim
    `user_claim`, and `sub` is who acts.
    """

    issuer: str
    audience: str
    jwks_url: str
    tenant_claim: str = "tenant"
    role_claim: str = "role"
    user_claim: str = "sub"


class Jwts:
    """Tokens that an issuer signed with a key of its published set; symmetric algorithms are refused."""

    def __init__(self, settings: JwtSettings) -> None:
        self._settings = settings
        self._keys = KeySet(settings.jwks_url)

    def takes(self, token: str) -> bool:
        """They have three parts."""
        return token.count(".") == 2  # noqa: PLR2004 - header, claims, signature

    async def caller(self, token: str) -> Caller | None:
        """Whose token it is. Raises `IssuerAway`."""
        try:
            return self._caller_of(await self._verified(token))
        except (PyJWTError, InvalidInput, ValueError) as error:
            log.warning("token_refused", why=str(error) or type(error).__name__, issuer=self._settings.issuer)
            return None

    async def _verified(self, token: str) -> Mapping[str, Any]:
        key_id = jwt.get_unverified_header(token).get("kid")
        key = await self._keys.find(key_id) if isinstance(key_id, str) else None
        if key is None:
            raise InvalidTokenError("it is signed with a key that the issuer does not have")
        claims: Mapping[str, Any] = jwt.decode(
            token,
            key,
            algorithms=list(ALGORITHMS),
            audience=self._settings.audience,
            issuer=self._settings.issuer,
            leeway=LEEWAY_S,
            options={"require": list(REQUIRED_CLAIMS)},
        )
        return claims

    def _caller_of(self, claims: Mapping[str, Any]) -> Caller:
        said = self._settings
        tenant = checked_part("tenant", claims.get(said.tenant_claim, ""))
        user = checked_part("user", claims.get(said.user_claim, ""))
        role = claims.get(said.role_claim, "caller")
        if role not in ROLES:
            raise InvalidInput(f"the token has the role {role!r}, which is none of {', '.join(ROLES)}")
        grant = Grant(name=checked_part("sub", claims["sub"]), role=role, user=user)
        return Caller(tenant, grant, until_s=float(min(int(claims["exp"]), FAR_S)))


@dataclass(frozen=True, slots=True)
class Doorkeeper:
    """Tells who asks. `open_to`: who everybody is where nothing is asked for, on this machine only."""

    kinds: tuple[Credentials, ...]
    open_to: Caller | None = None

    async def caller(self, authorization: str | None) -> Caller:
        """Who sent this header. Raises `Unauthenticated`, `IssuerAway`."""
        if authorization is None and self.open_to is not None:
            return self.open_to
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not 0 < len(token) <= TOKEN_CHARACTERS_MAX:
            raise Unauthenticated(REFUSED)
        for kind in self.kinds:
            if kind.takes(token):
                caller = await kind.caller(token)
                if caller is not None:
                    return caller
        raise Unauthenticated(REFUSED)
