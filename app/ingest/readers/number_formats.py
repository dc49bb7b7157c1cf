"""Write a spreadsheet's numbers in their formats: 14%, 1,200.50 €, 2024-03-01."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache

_BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm", 21: "h:mm:ss",
    22: "yyyy-mm-dd h:mm", 37: "#,##0", 38: "#,##0", 39: "#,##0.00", 40: "#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss",
    47: "mm:ss", 48: "0.0E+0", 49: "@",
}  # fmt: skip
_PART = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[(?P<bracket>[^\]]*)\]|(?P<skipped>_.|\*.)|(?P<digits>[0#?][0#?,.]*)|'
    r"(?P<exponent>E[+-]0+)|(?P<fraction>\s*/\s*[?0-9]+)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_DATE_LETTERS = re.compile(r"[ymdhs]", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE | re.DOTALL)


def format_code(number: int, own: dict[int, str]) -> str:
    """Return the format code for its number, from the file's own codes or the built-in ones.

    In Chinese and Japanese versions of Excel numbers from 27 to 58 are built-in dates.
    """
    if number in own:
        return own[number]
    return _BUILT_IN.get(number, "yyyy-mm-dd" if 27 <= number <= 36 or 50 <= number <= 58 else "General")


def format_number(value: float, code: str, *, since_1904: bool = False) -> str:
    """Write a number in the given format; dates always as year, month, day.

    >>> format_number(0.14, "0%"), format_number(45352, "dd/mm/yyyy"), format_number(-1200.5, '#,##0.00 "€"')
    ('14%', '2024-03-01', '-1,200.50 €')
    """
    try:
        if is_date(code):
            return _date(value, code, since_1904)
        return _number(value, code)
    except (ValueError, OverflowError):
        return _general(value)


@lru_cache(maxsize=512)
def is_date(code: str) -> bool:
    plain = _QUOTED.sub("", code)
    has_digits = re.search("[0#?]", plain.partition(".")[0]) is not None
    return code.lower() != "general" and _DATE_LETTERS.search(plain) is not None and not has_digits


def _date(value: float, code: str, since_1904: bool) -> str:
    plain = _QUOTED.sub("", code).lower()
    if "[" in plain:
        return _duration(round(value * 86_400), plain)
    # Lotus 1-2-3 took 1900 for a leap year, and Excel does too: before that March the days count from one later.
    start = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30 if value >= 60 else 31)
    moment = start + timedelta(seconds=round(value * 86_400))
    has_day, has_time = bool(re.search("[yd]|mmm", plain)), "h" in plain or "s" in plain
    time = f"{moment:%H:%M:%S}" if moment.second and "s" in plain else f"{moment:%H:%M}"
    if not has_day and has_time:
        return time
    day = f"{moment:%Y-%m}" if "d" not in plain and "y" in plain else f"{moment:%Y-%m-%d}"
    if plain.strip(" -/.") in ("yy", "yyyy"):
        day = f"{moment:%Y}"
    return f"{day} {time}" if has_time else day


def _duration(seconds: int, plain: str) -> str:
    """Write a duration, whose first part in brackets goes beyond 24 or 60."""
    rest = f":{seconds % 60:02}" if "s" in plain else ""
    if "[s" in plain:
        return str(seconds)
    minutes = seconds // 60
    return f"{minutes}{rest}" if "[m" in plain else f"{minutes // 60}:{minutes % 60:02}{rest}"


def _number(value: float, code: str) -> str:
    section, value = _section(value, code)
    if (spread := _spread(value, section)) is not None:
        return spread
    before, after, digits, has_exponent, percents = _parsed(section)
    if not digits and not has_exponent:
        return _general(value) if section.lower() == "general" or not (before or after) else before + after
    value = float(Decimal(f"{value:.15g}") * 100**percents)
    decimals = len(re.sub(r"[^0#?]", "", digits.partition(".")[2]))
    if has_exponent:
        words = f"{value:.{decimals}E}"
    else:
        whole = digits.partition(".")[0]
        value /= 1000 ** (len(digits) - len(digits.rstrip(",")))
        words = f"{_rounded(value, decimals):{',' if ',' in whole.rstrip(',') else ''}.{decimals}f}"
        words = _padded(words, whole.count("0"))
        needed = len(re.sub(r"[^0?]", "", digits.partition(".")[2]))
        words = _without_zeros(words, decimals - needed) if decimals > needed else words
    sign = "-" if words.startswith("-") and words.strip("-0.,") else ""
    return f"{sign}{before}{words.removeprefix('-')}{after}".strip()


def _rounded(value: float, decimals: int) -> Decimal:
    """Round as spreadsheets do: half away from zero, of 15 digits."""
    number = Decimal(f"{value:.15g}")
    try:
        return number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    except InvalidOperation:  # it has more digits than are counted
        return number


def _spread(value: float, section: str) -> str | None:
    """Write a whole number over several groups of digits, such as (000) 000-0000; None if the format has only one."""
    parts = [
        (part["digits"], part["quoted"] or part["escaped"] or part["other"] or "") for part in _PART.finditer(section)
    ]
    sizes = [len(digits) for digits, _ in parts if digits]
    if len(sizes) < 2 or any("." in digits or "," in digits for digits, _ in parts if digits) or "/" in section:
        return None
    digits = str(_rounded(abs(value), 0)).zfill(sum(digits.count("0") for digits, _ in parts if digits))
    pieces = []
    for pattern, text in reversed(parts):
        size = len(pattern) if pattern else 0
        is_first = bool(size) and len(sizes) == 1
        if size:
            sizes.pop()
        pieces.append((digits if is_first else digits[-size:]) if size else text)
        digits = digits[:-size] if size else digits
    return ("-" if value < 0 else "") + "".join(reversed(pieces)).strip()


def _section(value: float, code: str) -> tuple[str, float]:
    """Return the format's section for a number, and the number: a section for negative ones writes the sign itself."""
    parts = code.split(";")
    if value < 0 and len(parts) > 1:
        return parts[1] or "General", -value
    return (parts[2] if value == 0 and len(parts) > 2 and parts[2] else parts[0]) or "General", value


@lru_cache(maxsize=512)
def _parsed(section: str) -> tuple[str, str, str, bool, int]:
    """Return the text before and after the digits, their pattern, if an exponent follows, and the number of % signs."""
    if section.lower() == "general":
        return "", "", "", False, 0
    before, after, digits, exponent, percents = "", "", "", False, 0
    for part in _PART.finditer(section):
        text = part["quoted"] or part["escaped"] or ""
        if part["bracket"] is not None and part["bracket"].startswith("$"):
            text = part["bracket"][1:].partition("-")[0]
        if part["fraction"]:
            return "", "", "", False, 0  # fractions are written as decimals
        if part["digits"]:
            digits = digits or part["digits"]
        elif part["exponent"]:
            exponent = True
        elif part["other"] is not None and part["other"] != "@":
            percents += part["other"] == "%"
            text = part["other"]
        elif part["skipped"]:
            text = " " if digits or (before and before[-1] not in "-(") else ""
        before, after = (before, after + text) if digits else (before + text, after)
    return before, after.rstrip(), digits, exponent, percents


def _padded(words: str, min_digits: int) -> str:
    whole, dot, rest = words.removeprefix("-").partition(".")
    sign = "-" if words.startswith("-") else ""
    whole = whole.zfill(min_digits) if whole != "0" else "0" * min_digits  # `#` and `?` show no zero
    return f"{sign}{whole}{dot}{rest}"


def _without_zeros(words: str, max_zeros: int) -> str:
    for _ in range(max_zeros):
        words = words[:-1] if words.endswith("0") else words
    return words.rstrip(".")


def _general(value: float) -> str:
    if value == int(value) and abs(value) < 1e18:
        return str(int(value))
    return f"{value:.10g}"
