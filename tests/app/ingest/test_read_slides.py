"""Presentations: titles, reading order, notes, tables, charts and hidden slides."""

from __future__ import annotations

import pytest
from real_documents import headings, places, real

COLUMNS = "Two columns\n\nupper left\n\nupper right\n\ngrouped left\n\ngrouped right\n\nlower left"


@pytest.mark.parametrize("name", ["slides-python-pptx.pptx", "slides-libreoffice.pptx", "slides-libreoffice.odp"])
def test_each_slide_is_a_place_read_from_top_to_bottom(name: str) -> None:
    document = real(name)
    slides = places(document)
    assert list(slides) == ["slide 1", "slide 2", "slide 2, notes", "slide 3 (hidden)", "slide 4"]
    assert slides["slide 1"] == "Tides of the bay\n\nA short course"
    assert slides["slide 2"] == COLUMNS
    assert slides["slide 2, notes"] == "Say that the left one is older."
    assert slides["slide 4"].startswith("Heights\n\nPort = Sandwick; Metres = 4.1.\n\nPort = Alder Quay; Metres = 3.8.")
    assert [level for level, _ in headings(document)] == [1, 1, 1, 1]
    assert (document.title, document.metadata["author"]) == ("Tides of the bay", "Cy Dole")
    assert document.metadata["date"] == "2022-02-03"


def test_the_title_and_values_of_a_chart() -> None:
    last = places(real("slides-python-pptx.pptx"))["slide 4"]
    assert last.endswith("Storms a year\n\n2020; Storms = 3.\n\n2021; Storms = 5.")


@pytest.mark.parametrize("name", ["slides-python-pptx.pptx", "slides-libreoffice.pptx"])
def test_a_body_of_several_points_is_a_list(name: str) -> None:
    words = "What moves water\n\n- The moon\n  - most of all\n- The sun"
    assert places(real(name))["slide 3 (hidden)"] == words


def test_slides_written_by_pandoc() -> None:
    document = real("report-pandoc.pptx")
    assert headings(document)[:2] == [(1, "Harbour works"), (1, "The barrier")]
    assert "Country = Spain; Year = 2020; Share = 14%." in document.text
