"""How a collection's tokens are aligned, by name; empty: as the settings say."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collections", sa.Column("alignment", sa.String(100), nullable=False, server_default=""))


def downgrade() -> None:
    # Not as a batch, which drops the table on SQLite, and with it all that hangs on its rows.
    op.drop_column("collections", "alignment")
