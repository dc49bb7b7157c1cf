"""Follow the groups and control words of a rich text file, and hand its paragraphs on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from propcite.app.ingest.readers.draft import one_line
from propcite.app.ingest.readers.raised import lowered, raised
from propcite.app.ingest.readers.rtf_blocks import Blocks, CellShape, Paragraph
from propcite.app.ingest.readers.rtf_state import Fonts, State, Styles, level_of
from propcite.app.ingest.readers.rtf_tokens import Bytes, Token, page_named, tokens
from propcite.app.ingest.readers.symbol_fonts import symbol_character

# Groups whose words no reader sees.  Those that begin with \* are left out too, unless they are in _READ.
_LEFT_OUT = frozenset(
    "annotation atnauthor atnid bkmkend bkmkstart colortbl comment datafield datastore fldinst footer footerf footerl "
    "footerr footnotesep footnotesepc ftncn ftnsep ftnsepc aftncn aftnsep aftnsepc generator header headerf headerl "
    "headerr listoverridetable listtable nonesttables nonshppict objclass objdata objname picprop pict private "
    "revtbl rsidtbl rxe shprslt tc tcn template themedata ud xe xmlnstbl".split()
)
_READ = frozenset("footnote shpinst shptxt moMath moMathPara mmath".split())
_UNSEEN = ("skip", "info", "creatim", "fonts", "styles", "properties")  # where words may go, without being read
_SIGNS = {
    "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    "emspace": " ", "enspace": " ", "qmspace": " ", "tab": "\t", "line": "\n", "softline": "\n", "~": "\xa0",
    "_": "-", "{": "{", "}": "}", "\\": "\\",
}  # fmt: skip
_TYPED_LABEL = re.compile(r"([\uf0b7\uf0a7•◦▪–-]|(?:\d{1,3}|[a-zA-Z])[.)])\t\s*")
_MAX_GROUPS = 10_000  # inside each other


@dataclass(slots=True)
class _Row:
    """The shape of the open row, which is stated before its cells, after them, or both."""

    shapes: list[CellShape] = field(default_factory=list)
    next: CellShape = field(default_factory=CellShape)
    is_header: bool = False


class TextReader:
    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        self._states = [State()]
        self._texts: dict[str, list[str]] = {}  # by where words go
        self._styles = Styles()
        self._fonts = Fonts()
        self._bytes = Bytes()
        self._row = _Row()
        self._aside: list[str] = []  # notes and text boxes of the open paragraph
        self._num_notes = {"Note": 0, "Endnote": 0}
        self._is_endnote = False
        self._starred = False
        self._has_plain = False  # whether words of the open paragraph are not bold
        self._to_skip = 0  # characters that stand for the Unicode one before them
        self._date: dict[str, int] = {}

    @property
    def _state(self) -> State:
        return self._states[-1]

    @property
    def date(self) -> str:
        """Return the day on which the file was created, or an empty string."""
        year, month, day = (self._date.get(part, 0) for part in ("yr", "mo", "dy"))
        return f"{year:04}-{month:02}-{day:02}" if year and 0 < month < 13 and 0 < day < 32 else ""

    def field(self, name: str) -> str:
        return one_line(_whole("".join(self._texts.get(name, ()))))

    def read(self, source: str) -> None:
        for token in tokens(source):
            if token.kind == "text" and self._bytes.pending:
                self._byte(token.word[0])  # the second byte of a character
                token = token._replace(word=token.word[1:])
            if token.kind != "byte":
                self._write(self._bytes.end())
            match token.kind:
                case "brace" if token.word == "{":
                    self._open()
                case "brace":
                    self._close()
                case "text":
                    self._text(token.word)
                case "byte":
                    self._byte(token.word)
                case "sign" if token.word == "*":
                    self._starred = True
                case "sign":
                    self._write(_SIGNS.get(token.word, ""))
                case "word":
                    self._word(token)
        self._write(self._bytes.end())
        if self._texts.get("body"):
            self._end_paragraph(in_table=self._state.in_table)
        self.blocks.end()

    def _open(self) -> None:
        self._states.append(self._state if len(self._states) < _MAX_GROUPS else State("skip"))
        self._starred = False

    def _close(self) -> None:
        if len(self._states) == 1:
            return
        closed = self._states.pop()
        if closed.into != self._state.into:
            self._end_destination(closed.into)
        self._starred = False
        self._to_skip = 0

    def _end_destination(self, into: str) -> None:
        """Keep the words of a note, a text box or a drawn shape for the end of the paragraph."""
        if into == "value" and self.field("property") != "gtextUNICODE":
            self._texts.pop("value", None)
        elif into in ("note", "box", "value"):
            words = one_line(_whole("".join(self._texts.pop(into, ()))))
            if into == "note" and words:
                kind = "Endnote" if self._is_endnote else "Note"
                self._num_notes[kind] += 1
                words = f"{kind} {self._num_notes[kind]}: {words}"
            self._is_endnote = False
            self._aside += [words] if words else []

    def _into(self, name: str) -> None:
        self._states[-1] = replace(self._state, into=name, script="")

    def _text(self, words: str) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(words))
            self._to_skip -= skipped
            words = words[skipped:]
        match self._state.into:
            case "fonts":
                self._fonts.text(words)
            case "styles":
                self._styles.text(words)
            case _ if self._fonts.name(self._state.font) == "Symbol":
                self._write("".join(symbol_character("Symbol", ord(char)) for char in words))
            case _:
                page = self._fonts.page(self._state.font)
                self._write(words if words.isascii() else words.encode("latin-1").decode(page, "replace"))

    def _byte(self, char: str) -> None:
        if self._to_skip:
            self._to_skip -= 1
        elif symbol := symbol_character(self._fonts.name(self._state.font), ord(char)):
            self._write(symbol)
        else:
            self._write(self._bytes.add(char, self._fonts.page(self._state.font)))

    def _write(self, words: str) -> None:
        state = self._state
        if not words or state.hidden or state.into in _UNSEEN:
            return
        pieces = self._texts.setdefault(state.into, [])
        if state.into == "body" and not state.bold and words.strip():
            self._has_plain = True
        if state.script:
            words = raised(words) if state.script == "super" else lowered(words, pieces[-1] if pieces else "")
        pieces.append(words)

    def _word(self, token: Token) -> None:
        word, number = token.word, token.number
        starred, self._starred = self._starred, False
        if word in _LEFT_OUT or (starred and word not in _READ and self._state.into != "styles"):
            self._into("skip")
        elif word == "u" and number is not None:
            self._unicode(number)
        elif word in _SIGNS:
            self._write(_SIGNS[word])
        elif self._state.into == "fonts":
            self._fonts.word(word, number)
        elif self._state.into == "styles":
            self._styles.word(word, number)
        elif (look := self._state.look(word, number)) is not None:
            self._states[-1] = look
        elif not (self._place(word, number) or self._shape(word, number)):
            self._destination(word, number)

    def _unicode(self, number: int) -> None:
        code = number % 65536
        private = 0xF000 <= code < 0xF100
        symbol = symbol_character(self._fonts.name(self._state.font), code & 0xFF) if private else ""
        self._write(symbol or chr(code))
        self._to_skip = self._state.skip_after_unicode

    def _place(self, word: str, number: int | None) -> bool:
        """Take a word on the paragraph and its place; return whether it is one."""
        state = self._state
        match word:
            case "pard":
                state = replace(state, level=0, style=0, depth=0, in_table=False)
            case "s":
                state = replace(state, style=number or 0)
            case "outlinelevel":
                state = replace(state, level=level_of(number))
            case "ilvl":
                state = replace(state, depth=min(max(number or 0, 0), 8))
            case "intbl":
                state = replace(state, in_table=True)
            case "par" | "sect" | "page" | "cell" | "nestcell" if state.into != "body" or word == "nestcell":
                self._write(" ")
            case "par" | "sect" | "page":
                self._end_paragraph(in_table=state.in_table)
            case "cell":
                self._end_paragraph(in_table=True)
                self.blocks.end_cell()
            case "row":
                self.blocks.end_row(self._row.shapes, is_header=self._row.is_header)
            case _:
                return False
        self._states[-1] = state
        return True

    def _shape(self, word: str, number: int | None) -> bool:
        """Take a word on the shape of a row; return whether it is one."""
        match word:
            case "trowd":
                self._row = _Row()
            case "trhdr":
                self._row.is_header = True
            case "clmrg":
                self._row.next.joins_left = True
            case "clvmrg":
                self._row.next.joins_above = True
            case "cellx":
                self._row.next.right = number or 0
                self._row.shapes.append(self._row.next)
                self._row.next = CellShape()
            case _:
                return False
        return True

    def _destination(self, word: str, number: int | None) -> None:
        match word:
            case "fonttbl":
                self._into("fonts")
            case "stylesheet":
                self._into("styles")
            case "footnote":
                self._into("note")
            case "ftnalt":
                self._is_endnote = True
            case "sp" if self._state.into == "body":
                self._into("properties")
            case "sn" if self._state.into == "properties":
                self._texts.pop("property", None)
                self._into("property")
            case "sv" if self._state.into == "properties":
                self._into("value")
            case "sp" | "sn" | "sv":
                self._into("skip")
            case "shptxt" if self._state.into == "body":
                self._into("box")
            case "listtext" | "pntext" if self._state.into == "body":
                self._into("label")
            case "info":
                self._into("info")
            case "title" | "author" | "creatim" if self._state.into == "info":
                self._into("skip" if word in self._texts else word)  # some programs name who changed the file, too
            case "yr" | "mo" | "dy" if self._state.into == "creatim":
                self._date[word] = number or 0
            case "ansicpg":
                self._fonts.default_page = page_named(number or 0)
            case "mac":
                self._fonts.default_page = "mac_roman"
            case "deff":
                self._fonts.default = number or 0

    def _end_paragraph(self, *, in_table: bool) -> None:
        words = _whole("".join(self._texts.pop("body", ()))).strip(" \n")
        label = one_line(_whole("".join(self._texts.pop("label", ()))))
        if not label and (typed := _TYPED_LABEL.match(words)):
            label, words = typed[1], words[typed.end() :]
        level, is_title = self._styles.heading(self._state.style)
        level = 0 if in_table else self._state.level or level
        words = words.replace("\t", " ")
        is_bold, self._has_plain = not self._has_plain, False
        paragraph = Paragraph(words, label, level, self._state.depth + 1, is_title, is_bold)
        self.blocks.paragraph(paragraph, in_table=in_table)
        aside, self._aside = self._aside, []
        for note in aside:
            self.blocks.note(note)


def _whole(text: str) -> str:
    """Return text whose characters beyond U+FFFF may be in two halves."""
    if not any("\ud800" <= char < "\ue000" for char in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
