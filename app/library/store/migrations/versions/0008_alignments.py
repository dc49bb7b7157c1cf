"""Add a collection's own alignment by name; empty for that of the settings."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collections", sa.Column("alignment", sa.String(100), nullable=False, server_default=""))


def downgrade() -> None:
    # Not in a batch, which would drop the table on SQLite and delete by cascade all rows that refer to it.
    op.drop_column("collections", "alignment")
