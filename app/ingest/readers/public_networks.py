"""Which IP addresses are on the public internet."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

# Outside of these, IPv6 has forms that some system may route to an IPv4 address inside: mapped, translated, compatible.
_GLOBAL_UNICAST = ip_network("2000::/3")
_NAT64 = ip_network("64:ff9b::/96")  # the prefix by which networks without IPv4 reach all of it
_RESERVED = (
    ip_network("2001::/23"),  # Teredo and other protocol assignments
    ip_network("2002::/16"),  # 6to4
    ip_network("3fff::/20"),  # documentation, which Python 3.11 does not know
    ip_network("192.88.99.0/24"),  # relays of 6to4
)
_ISATAP = (0x00005EFE, 0x02005EFE)  # the third quarter of an address whose last quarter is an IPv4 address


def is_public(address: str) -> bool:
    """Return whether an address is on the public internet, whatever form it is written in."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        inner = _embedded(ip)
        if inner is not None:
            return is_public(str(inner))
        if ip not in _GLOBAL_UNICAST or (int(ip) >> 32) & 0xFFFFFFFF in _ISATAP:
            return False
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in _RESERVED)


def _embedded(ip: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that every system reads in an IPv6 address; None if there is none."""
    return ip.ipv4_mapped or (IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None)
