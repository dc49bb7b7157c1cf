"""Rename the measure `coverage` of history runs to `supported_facts`."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

RUNS = sa.table("runs", sa.column("id", sa.String), sa.column("kind", sa.String))
ITEMS = sa.table(
    "run_items", sa.column("id", sa.Integer), sa.column("run_id", sa.String), sa.column("measures", sa.JSON)
)


def upgrade() -> None:
    _rename("coverage", "supported_facts")


def downgrade() -> None:
    _rename("supported_facts", "coverage")


def _rename(old: str, new: str) -> None:
    database = op.get_bind()
    history = sa.select(RUNS.c.id).where(RUNS.c.kind == "history")
    for id_, measures in database.execute(
        sa.select(ITEMS.c.id, ITEMS.c.measures).where(ITEMS.c.run_id.in_(history))
    ).all():
        if old in measures:
            renamed = {new if name == old else name: value for name, value in measures.items()}
            database.execute(ITEMS.update().where(ITEMS.c.id == id_).values(measures=renamed))
