"""Add named places of a passage in a source without pages."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("passages", sa.Column("places", sa.JSON(), nullable=False, server_default="[]"))


def downgrade() -> None:
    # Not in a batch, which would drop the table on SQLite and delete by cascade all rows that refer to it.
    op.drop_column("passages", "places")
