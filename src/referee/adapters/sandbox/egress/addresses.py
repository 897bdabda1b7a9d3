"""Which addresses are of the public internet: everything nearer is refused, whatever name leads to it."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

# Written out, because what Python calls "global" differs between its versions.
_NEAR_4 = tuple(
    IPv4Network(n)
    for n in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
    )
)  # fmt: skip
_GLOBAL_6 = IPv6Network("2000::/3")
# Documentation, benchmarks and protocol assignments; and tunnels that hold an IPv4 address of anybody's choosing.
_NEAR_6 = tuple(IPv6Network(n) for n in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))
_TRANSLATED = IPv6Network("64:ff9b::/96")


def public(address: str) -> bool:
    """Whether `address`, in the notation of a resolver's answer, is an ordinary address of the public internet."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return _public_4(found) if isinstance(found, IPv4Address) else _public_6(found)


def _public_4(address: IPv4Address) -> bool:
    return not any(address in network for network in _NEAR_4)


def _public_6(address: IPv6Address) -> bool:
    if address.scope_id is not None:
        return False
    if address in _TRANSLATED:
        return _public_4(IPv4Address(int(address) & 0xFFFFFFFF))
    return address in _GLOBAL_6 and not any(address in network for network in _NEAR_6)
