"""Names for made-up scenes: people, places, companies, works, things; none twice in a scene."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from propcite.attribution.english import MONTH_NAMES

_FIRST: Final = (
    "Anna Peter Maria John Clara David Elena Thomas Ruth Samuel Grace Victor Nadia Paul Irene Hugo Laura Martin Alice "
    "George Sofia Daniel Helen Oscar Emma Frank Julia Henry Rosa Walter Mei Kenji Amara Rajiv Fatima Omar Leila Tariq "
    "Ingrid Lars Pavel Olga Chen Yuki Carlos Lucia Miguel Ines Kofi Zainab Liam Aoife Nora Simon Edith Arthur Beatrice"
).split()
_LAST: Final = (
    "Smith Brown Keller Novak Rossi Tanaka Okafor Singh Haddad Larsen Petrov Moreau Silva Garcia Costa Nguyen Kowalski "
    "Weber Fischer Jansen Dubois Murphy Byrne Walsh Fraser Campbell Hughes Morgan Parker Turner Cooper Bailey Reed "
    "Foster Hayes Brooks Price Bennett Marsh Doyle Ferrari Romano Ivanova Sato Kimura Mensah Diallo Farouk Aziz Rahman "
    "Lindqvist Berg Holm Vargas Ortega Mendez Ribeiro Almeida Kaplan Stern Adler Novotny Horvath Szabo"
).split()
_PLACES: Final = (
    "Vienna Prague Lisbon Dublin Oslo Helsinki Warsaw Madrid Rome Athens Cairo Nairobi Lagos Tunis Mumbai Delhi "
    "Bangkok Hanoi Manila Seoul Tokyo Osaka Sydney Perth Auckland Toronto Montreal Chicago Boston Denver Seattle "
    "Austin Atlanta Lima Bogota Santiago Quito Havana Berlin Hamburg Munich Zurich Geneva Milan Turin Naples Lyon "
    "Marseille Glasgow Leeds Bristol Cardiff Antwerp Ghent Rotterdam Utrecht Krakow Zagreb Riga Vilnius Tallinn "
    "Tbilisi"
).split()
_COUNTRIES: Final = (
    "France Spain Italy Germany Portugal Ireland Norway Sweden Denmark Finland Poland Austria Hungary Greece "
    "Turkey Egypt Kenya Nigeria Ghana Morocco India Japan Vietnam Thailand Indonesia Australia Canada Mexico "
    "Brazil Argentina Chile Peru Colombia Belgium Switzerland Croatia Romania Bulgaria Estonia Latvia Lithuania "
    "Iceland Malaysia Pakistan"
).split()
_COMPANY: Final = (
    "Northwind Halden Brightwater Ostrava Meridian Calder Aldgate Solvane Kestrel Ironbridge Lumen Tarrant Vega Orion "
    "Pinnacle Redwood Silverline Harrow Corvus Delmar Atlas Beacon Cobalt Drayton Everest Fairmont Granite Helix"
).split()
_COMPANY_END: Final = "Group Industries Systems Foods Energy Airlines Pharma Motors Bank Media Labs".split()
_WORK: Final = (
    "Silent River|The Last Harbour|Winter Garden|A Distant Shore|The Glass Bridge|Northern Lights|The Long Field|"
    "Paper Moon|The Red Lantern|Broken Compass|Salt and Stone|The Quiet Hour|Falling Leaves|The Iron Gate|Blue Summer|"
    "The Lost Letter|City of Rain|The Seventh Door|Morning Tide|The Hollow Crown|Golden Mile|House of Clay"
).split("|")


class Names:
    """Draws names that differ from each other until `restart`."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._used: set[str] = set()

    def restart(self) -> None:
        """Forget which names were drawn: a new scene begins."""
        self._used.clear()

    def person(self) -> str:
        return self._new(lambda: f"{self._rng.choice(_FIRST)} {self._rng.choice(_LAST)}")

    def surname(self) -> str:
        return self._new(lambda: self._rng.choice(_LAST))

    def place(self) -> str:
        return self._new(lambda: self._rng.choice(_PLACES))

    def country(self) -> str:
        return self._new(lambda: self._rng.choice(_COUNTRIES))

    def company(self) -> str:
        return self._new(lambda: f"{self._rng.choice(_COMPANY)} {self._rng.choice(_COMPANY_END)}")

    def work(self) -> str:
        """Return the title of a film, book or song."""
        return self._new(lambda: self._rng.choice(_WORK))

    def month(self) -> str:
        return self._new(lambda: self._rng.choice(MONTH_NAMES))

    def year(self, first: int = 1850, last: int = 2023) -> int:
        return int(self._new(lambda: str(self._rng.randint(first, last))))

    def number(self, least: int, most: int) -> int:
        return int(self._new(lambda: str(self._rng.randint(least, most))))

    def _new(self, draw: Callable[[], str]) -> str:
        for _ in range(1000):
            name = draw()
            if name not in self._used:
                break
        self._used.add(name)
        return name
