"""Add signatures that reveal near-duplicates; null for documents without one."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("documents", sa.Column("signature", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    # Not in a batch, which would drop the table on SQLite and delete by cascade all rows that refer to it.
    op.drop_column("documents", "signature")
