"""Rename opinions to the names that every interface uses."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

NAMES = {"too broad": "too-broad", "better one here": "better"}
FEEDBACK = sa.table("feedback", sa.column("opinion", sa.String))


def upgrade() -> None:
    _rename(NAMES)


def downgrade() -> None:
    _rename({new: old for old, new in NAMES.items()})


def _rename(names: dict[str, str]) -> None:
    for old, new in names.items():
        op.execute(FEEDBACK.update().where(FEEDBACK.c.opinion == old).values(opinion=new))
