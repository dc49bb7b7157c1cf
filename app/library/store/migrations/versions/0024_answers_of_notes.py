"""Keep which answer a note was pinned from; of notes before this it is not known."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("notes", sa.Column("answer_id", sa.String(32), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("notes", "answer_id")
