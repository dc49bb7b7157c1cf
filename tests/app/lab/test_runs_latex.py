"""LaTeX tables checked by a LaTeX parser: balanced environments and unchanged text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexwalker import LatexEnvironmentNode, LatexMathNode, LatexSpecialsNode, LatexWalker
from sample_runs import any_item, run_info, sample_items

from propcite.app.lab.runs.exports import to_latex
from propcite.app.lab.runs.latex import latex_text
from propcite.app.library.store import RunItem
from propcite.attribution.formats.text import one_line

SIGNS = "&%_#${}~^\\<>|[]*-'`,?!/ a1é"

UNKNOWN = {"textless": "<", "textgreater": ">", "textbar": "|"}


def parsed(text: str) -> list[Any]:
    """Return the nodes of a text; raise if a group or an environment is not closed."""
    nodes, _, length = LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
    assert length == len(text)
    return list(nodes)


def inside(nodes: Sequence[Any]) -> Iterator[Any]:
    for node in nodes:
        if node is not None:
            yield node
            yield from inside(getattr(node, "nodelist", None) or ())


def words(text: str) -> str:
    """Return the printed text; the names of some signs are unknown to the parser."""
    for name, sign in UNKNOWN.items():
        text = text.replace(f"\\{name}{{}}", sign)
    return str(LatexNodes2Text(keep_comments=False).nodelist_to_text(parsed(text))).replace("\u02c6", "^")


@given(st.text(SIGNS, max_size=12))
@example("m''_q -- ``x'' ?`")
def test_any_text_is_printed_unchanged(text: str) -> None:
    assert words(f"({latex_text(text)})") == f"({one_line(text)})"


@given(st.lists(any_item, min_size=1, max_size=3), st.text(max_size=20), st.text(SIGNS, min_size=1, max_size=9))
def test_any_run_is_a_valid_latex_table(items: list[RunItem], name: str, way: str) -> None:
    items = [replace(item, way=way, measures={**item.measures, "str_em": 0.5, name: 0.5}) for item in items]
    run = run_info(name, revision=name, notes=[name])
    nodes = list(inside(parsed(to_latex(run, items))))
    assert [n.environmentname for n in nodes if isinstance(n, LatexEnvironmentNode)] == ["table", "tabular"]
    assert {n.latex_verbatim() for n in nodes if isinstance(n, LatexMathNode)} <= {r"$\pm$"}
    (tabular,) = (n for n in nodes if isinstance(n, LatexEnvironmentNode) and n.environmentname == "tabular")
    cells = [sum(_parts(node) for node in row) for row in _rows(tabular.nodelist)]
    assert len(set(cells)) == 1
    assert not re.search(r"(\\\\|\\midrule)\s*[\[*]", tabular.latex_verbatim())


def _rows(nodes: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield the nodes of each row, which ends with two backslashes."""
    row: list[Any] = []
    for node in nodes:
        if getattr(node, "macroname", "") == "\\":
            yield row
            row = []
        else:
            row.append(node)


def _parts(node: Any) -> int:
    return int(isinstance(node, LatexSpecialsNode) and node.specials_chars == "&")


def test_a_latex_table_has_one_row_per_way_and_names_its_judge() -> None:
    table = to_latex(run_info(), sample_items(10))
    assert r"judged by j; $\pm$ half the 95\% interval" in table
    assert r"sentence\_top1 \textless{}b\textgreater{}\&\$\_\% & " in table
    assert table.count(r"{\tiny $\pm$ ") == 2 * 10
    assert "10 items, judged by j; plain mean over 2 sources (news, wiki), items drawn within each" in table
    assert r"\toprule" in table
    assert "% cost of all together: 20 items, " in table
