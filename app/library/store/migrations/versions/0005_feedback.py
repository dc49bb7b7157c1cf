"""Add feedback on citations."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "feedback",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("answer_id", sa.String(32), nullable=False),
        sa.Column("fact", sa.String(16), nullable=False),
        sa.Column("citation", sa.String(16), nullable=False),
        sa.Column("opinion", sa.String(16), nullable=False),
        sa.Column("better", sa.JSON(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("given_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["answer_id"], ["answers.id"], name="fk_feedback_answer_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_feedback"),
        sa.UniqueConstraint("answer_id", "fact", "citation", "by", name="uq_feedback_answer_id"),
    )


def downgrade() -> None:
    op.drop_table("feedback")
