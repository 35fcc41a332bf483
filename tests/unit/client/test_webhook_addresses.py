"""To which addresses a gateway sends what it was told to send."""

from __future__ import annotations

import pytest

from turnwright.client.gateway.addresses import AddressRefused, addresses_of, is_public
from turnwright.client.gateway.names import Names
from turnwright.client.gateway.posting import WebhookSettings, check_receiver, failure_of, host_of
from turnwright.journal.errors import InvalidInput

PUBLIC = ["1.1.1.1", "93.184.215.14", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
NOT_PUBLIC = [
    *("127.0.0.1", "127.255.0.1", "0.0.0.0", "10.0.0.1", "172.16.0.1", "100.64.0.1"),  # noqa: S104 - refused
    "192.168.1.1",
    *("169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"),  # metadata
    *("224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.1", "203.0.113.1"),
    *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fec0::1", "ff02::1", "2001:db8::1"),
    *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1"),
    *("2002:7f00:1::", "2001:0:7f00:1::", "100::1"),
]


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_an_address_that_is_not_public_however_it_is_written(address: str) -> None:
    assert not is_public(address)


async def test_a_name_that_leads_to_an_address_that_is_not_public_is_refused() -> None:
    with pytest.raises(AddressRefused):
        await addresses_of("localhost", Names(), private=False)
    assert set(await addresses_of("localhost", Names(), private=True)) <= {"127.0.0.1", "::1"}


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "localhost", "LOCALHOST", "localhost.", "hook.localhost", "127.1", "2130706433", "0x7f000001"),
        *("0177.0.0.1", "10.0.0.1", "[::1]", "[::ffff:10.0.0.1]", "169.254.169.254", "[fd00:ec2::254]"),
    ],
)
def test_a_place_that_is_not_public_is_refused_as_soon_as_it_is_named(host: str) -> None:
    with pytest.raises(InvalidInput):
        check_receiver(f"https://{host}/hook", WebhookSettings())


@pytest.mark.parametrize("host", ["shop.example.com.", "shop..example.com", ".example.com", "."])
def test_a_host_is_written_in_one_way_only(host: str) -> None:
    with pytest.raises(InvalidInput, match="looks like"):
        check_receiver(f"https://{host}/hook", WebhookSettings(private=True))


def test_nothing_is_sent_in_the_clear_unless_private_places_are_trusted() -> None:
    with pytest.raises(InvalidInput, match="https://"):
        check_receiver("http://shop.example.com/hook", WebhookSettings())
    check_receiver("https://shop.example.com/hook", WebhookSettings())
    for url in ("http://shop.example.com/hook", "http://127.0.0.1:8000/", "https://[::1]/"):
        check_receiver(url, WebhookSettings(private=True))


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Shop.example.com./hook", "shop.example.com"),
        ("https://shop.example.com:8443?a=b:1", "shop.example.com"),
        ("http://[::1]:8000/", "[::1]"),
        ("http://[::1]", "[::1]"),
    ],
)
def test_a_host_is_the_same_however_its_url_is_written(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_every_good_answer_is_one(status: int) -> None:
    assert failure_of(status, "") is None


@pytest.mark.parametrize("status", [301, 302, 307, 400, 401, 404, 410, 429, 500, 503])
def test_every_other_is_a_failure_that_says_which(status: int) -> None:
    failure = failure_of(status, "120" if status == 503 else "Wed, 21 Oct 2026 07:28:00 GMT")
    assert failure is not None
    assert str(status) in failure.error
    assert (failure.gone, failure.wait_s) == (status == 410, 120 if status == 503 else 0)
