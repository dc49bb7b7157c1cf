"""Number the changes of each collection's documents, and name its set of passages.

The set's name is computed by the first comparison with the index, so that this migration reads no passage.
"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collections", sa.Column("changes", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("collections", sa.Column("history", sa.String(16), nullable=False, server_default=""))
    op.add_column("collections", sa.Column("passage_set", sa.String(48), nullable=True))
    for table in ("documents", "versions"):
        op.add_column(table, sa.Column("changed", sa.Integer(), nullable=False, server_default="0"))
        op.create_index(f"ix_{table}_changed", table, ["collection_id", "changed"])


def downgrade() -> None:
    # Not in a batch, which would drop the table on SQLite and delete by cascade all rows that refer to it.
    for table in ("documents", "versions"):
        op.drop_index(f"ix_{table}_changed", table_name=table)
        op.drop_column(table, "changed")
    for column in ("changes", "history", "passage_set"):
        op.drop_column("collections", column)
