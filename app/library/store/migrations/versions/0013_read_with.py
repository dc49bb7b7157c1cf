"""Add the version of the reader that each document, also a former one, was read with; 1 for all read before."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("documents", "versions"):
        op.add_column(table, sa.Column("read_with", sa.Integer(), nullable=False, server_default="1"))


def downgrade() -> None:
    # Not in a batch, which would drop the table on SQLite and delete by cascade all rows that refer to it.
    for table in ("documents", "versions"):
        op.drop_column(table, "read_with")
