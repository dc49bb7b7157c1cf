"""Add the version of the reader that each document was read with; 1 for all that were read before."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("documents", sa.Column("read_with", sa.Integer(), nullable=False, server_default="1"))


def downgrade() -> None:
    # Not in a batch, which would drop the table on SQLite and delete by cascade all rows that refer to it.
    op.drop_column("documents", "read_with")
