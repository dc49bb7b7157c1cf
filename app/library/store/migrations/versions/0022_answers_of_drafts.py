"""Tell the answers that only drafts under review have from those that are kept for themselves."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("answers", sa.Column("of_draft", sa.Boolean(), server_default=sa.false(), nullable=False))
    answers = sa.table("answers", sa.column("id"), sa.column("of_draft", sa.Boolean()))
    drafts = sa.table("reviews", sa.column("answer_id"))
    op.execute(answers.update().where(answers.c.id.in_(sa.select(drafts.c.answer_id))).values(of_draft=True))


def downgrade() -> None:
    op.drop_column("answers", "of_draft")
