"""Which addresses a gateway connects to on somebody's word: public ones, unless it is told to trust them all.

Rule: what is judged is the address that is connected to, and never a name, which may mean another one a moment later.
Whoever may make a webhook could otherwise reach what only the gateway's own network reaches.
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from turnwright.client.gateway.names import Names
from turnwright.journal.errors import InvalidInput

ADDRESSES_TRIED_MAX = 4
# Not public, although Python may take them for it: Oracle's and Azure's metadata.
_NOT_PUBLIC = (ip_network("192.0.0.0/24"), ip_network("168.63.129.16/32"))
_UNICAST = ip_network("2000::/3")
# Inside of that: protocols, among them tunnels to IPv4 addresses, and what is for documentation.
_NOT_PUBLIC_6 = tuple(map(ip_network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
_TRANSLATED = ip_network("64:ff9b::/96")
IN_THE_CLEAR = "the gateway sends nothing in the clear (see gateway_webhooks_private)"
REFUSED = "its address is not public, and the gateway sends to no other (see gateway_webhooks_private)"


class AddressRefused(Exception):
    """A place that nothing is sent to."""


async def addresses_of(host: str, names: Names, *, private: bool) -> list[str]:
    """The addresses that a name has now, some of them.

    Raises:
        AddressRefused: one of them is not public, and `private` is not set.
        OSError, UnicodeError: it has none.
    """
    addresses = list(dict.fromkeys(_written(host))) or await names.addresses(host)
    if not private and not all(map(is_public, addresses)):
        raise AddressRefused(REFUSED)
    return addresses[:ADDRESSES_TRIED_MAX]


def check_place(host: str, *, encrypted: bool, private: bool) -> None:
    """Refuse what can be told without asking for a name's addresses. Raises `InvalidInput`."""
    if private:
        return
    if not encrypted:
        raise InvalidInput(f"a webhook's URL begins with https://; {IN_THE_CLEAR}")
    local = f".{host.lower().rstrip('.')}".endswith(".localhost")
    if local or not all(map(is_public, _written(host))):
        raise InvalidInput(f"nothing is sent to {host}: {REFUSED}")


def is_public(address: str) -> bool:
    """Whether it is an address of the public internet."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv4Address):
        return _is_public_4(found)
    if found.ipv4_mapped is not None:
        return _is_public_4(found.ipv4_mapped)
    if found in _TRANSLATED:
        return _is_public_4(IPv4Address(int(found) & 0xFFFF_FFFF))
    return _is_public_6(found)


def _is_public_4(address: IPv4Address) -> bool:
    inside = any(address in network for network in _NOT_PUBLIC)
    return address.is_global and not (address.is_multicast or address.is_reserved or inside)


def _is_public_6(address: IPv6Address) -> bool:
    return address in _UNICAST and not any(address in network for network in _NOT_PUBLIC_6)


def _written(host: str) -> list[str]:
    """The address that is written there, in any of the forms the system takes (127.1, 0x7f000001); none in a name."""
    try:
        found = socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return []
    return [str(info[4][0]) for info in found]
