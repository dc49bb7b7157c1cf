"""What tells documents that say nearly the same; null where none was taken."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("documents", sa.Column("signature", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    # Not as a batch, which drops the table on SQLite, and with it all that hangs on its rows.
    op.drop_column("documents", "signature")
