"""Name the versions of each collection's index that belong to its documents; the next writer notes them."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collections", sa.Column("index_versions", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("collections", "index_versions")
