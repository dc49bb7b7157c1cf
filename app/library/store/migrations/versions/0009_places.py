"""Where a passage's words are found in a source that has no pages, by name."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("passages", sa.Column("places", sa.JSON(), nullable=False, server_default="[]"))


def downgrade() -> None:
    # Not as a batch, which drops the table on SQLite, and with it all that hangs on its rows.
    op.drop_column("passages", "places")
