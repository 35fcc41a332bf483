"""Posting to the receiver of a webhook.

Rule: the connection goes to the address that was judged, while TLS and the receiver are told the name. A redirect is
not followed, no proxy is used, an answer is not read beyond a bound, and all of it together has one deadline.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import httpx2

from turnwright.client.gateway.addresses import AddressRefused, addresses_of, check_place
from turnwright.client.gateway.names import Names
from turnwright.journal.errors import InvalidInput
from turnwright.journal.webhooks import Failure, RetryTerms, checked_url

CONNECT_S = 5.0
ANSWER_BYTES_MAX = 64 * 1024
_SECONDS = re.compile(r"[0-9]{1,9}")
HEADERS = {"Content-Type": "application/json", "User-Agent": "turnwright-webhooks", "Accept-Encoding": "identity"}


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    """How a gateway delivers. `private`: also to addresses that are not public, and without TLS."""

    private: bool = False
    timeout_s: float = 15
    retry: RetryTerms = field(default_factory=RetryTerms)


def check_receiver(url: str, settings: WebhookSettings) -> None:
    """Refuse what would never be delivered to, as far as that can be told now. Raises `InvalidInput`."""
    try:
        parsed = httpx2.URL(checked_url(url))
    except httpx2.InvalidURL as error:
        raise InvalidInput(f"the URL cannot be read: {error}") from None
    check_place(parsed.host, encrypted=parsed.scheme == "https", private=settings.private)


def host_of(url: str) -> str:
    """Whose a URL is, of whatever port."""
    authority = re.split("[/?]", url.partition("://")[2], maxsplit=1)[0]
    return re.sub(r":[0-9]*$", "", authority).lower().rstrip(".")


class Receiver:
    """One URL; enter it to post there. Its connections are used for no other name, whatever the address."""

    def __init__(self, url: str, settings: WebhookSettings, tls: ssl.SSLContext, names: Names) -> None:
        self._url = url
        self._names = names
        self._settings = settings
        self._http = httpx2.AsyncClient(
            headers=HEADERS,
            verify=tls,
            trust_env=False,
            follow_redirects=False,
            timeout=httpx2.Timeout(settings.timeout_s, connect=min(CONNECT_S, settings.timeout_s)),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def post(self, headers: Mapping[str, str], body: bytes) -> Failure | None:
        """Post once; why it was not taken, None when it was."""
        try:
            check_receiver(self._url, self._settings)
            async with asyncio.timeout(self._settings.timeout_s):
                return await self._post(httpx2.URL(self._url), headers, body)
        except (AddressRefused, InvalidInput) as error:
            return Failure(str(error))
        except (TimeoutError, httpx2.ReadTimeout, httpx2.WriteTimeout):
            return Failure(f"it did not answer within {self._settings.timeout_s:g} s")
        except (httpx2.TransportError, OSError, UnicodeError) as error:
            return Failure(f"it cannot be reached: {str(error) or type(error).__name__}")

    async def _post(self, url: httpx2.URL, headers: Mapping[str, str], body: bytes) -> Failure | None:
        addresses = await addresses_of(url.raw_host.decode("ascii"), self._names, private=self._settings.private)
        for address in addresses[:-1]:
            try:
                return await self._post_to(address, url, headers, body)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._post_to(addresses[-1], url, headers, body)

    async def _post_to(self, address: str, url: httpx2.URL, headers: Mapping[str, str], body: bytes) -> Failure | None:
        name = url.raw_host.decode("ascii")
        posting = self._http.stream(
            "POST",
            url.copy_with(host=address),
            content=body,
            headers={**headers, "Host": url.netloc.decode("ascii")},
            extensions={"sni_hostname": name},
        )
        async with posting as answer:
            await _read_some(answer)
            return failure_of(answer.status_code, answer.headers.get("Retry-After", ""))


def failure_of(status: int, retry_after: str) -> Failure | None:
    """What an answer means; None: it was taken."""
    if httpx2.codes.is_success(status):
        return None
    if httpx2.codes.is_redirect(status):
        return Failure(f"it answered {status}, and redirects are not followed; give the URL that it leads to")
    wait_s = int(retry_after) if _SECONDS.fullmatch(retry_after) else 0
    return Failure(f"it answered {status}", gone=status == httpx2.codes.GONE, wait_s=wait_s)


async def _read_some(answer: httpx2.Response) -> None:
    """Read a short answer to its end, so that the connection can be used again."""
    taken = 0
    async for part in answer.aiter_raw():
        taken += len(part)
        if taken > ANSWER_BYTES_MAX:
            return
