"""OpenDocument files of a few lines."""

from __future__ import annotations

import zipfile
from io import BytesIO

ODF = (
    'xmlns:office="o" xmlns:text="t" xmlns:style="s" xmlns:fo="f" xmlns:table="tb" xmlns:draw="d" xmlns:xlink="x" '
    'xmlns:dc="dc"'
)
ODF_STYLES = (
    '<style:style style:name="T1" style:family="text"><style:text-properties style:text-position="super 58%"/>'
    '</style:style><style:style style:name="T2" style:family="text" style:parent-style-name="T1"/>'
    '<style:style style:name="T3" style:family="text"><style:text-properties style:text-line-through-style="solid"/>'
    '</style:style><style:style style:name="T4" style:family="text"><style:text-properties text:display="none"/>'
    '</style:style><style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>'
)


def odf(kind: str, body: str, styles: str = ODF_STYLES, **parts: str) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        archive.writestr(
            "content.xml",
            f"<office:document-content {ODF}><office:automatic-styles>{styles}</office:automatic-styles><office:body>"
            f"<office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
        )
        for path, text in parts.items():
            archive.writestr(path.replace("__", "/") + ".xml", text)
    return out.getvalue()
