"""Add predecessors and search texts of answers, and sources that could not be read."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

ANSWERS = sa.table("answers", sa.column("id", sa.String), sa.column("body", sa.Text), sa.column("words", sa.Text))


def upgrade() -> None:
    op.add_column("answers", sa.Column("after", sa.String(32), nullable=False, server_default=""))
    op.add_column("answers", sa.Column("words", sa.Text(), nullable=False, server_default=""))
    op.create_index("ix_answers_after", "answers", ["after"])
    op.create_index("ix_answers_asked_at", "answers", ["asked_at"])
    op.create_table(
        "failures",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collections.id"], name="fk_failures_collection_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_failures"),
        sa.UniqueConstraint("collection_id", "source", name="uq_failures_collection_id"),
    )
    _note_words()


def downgrade() -> None:
    # Not in a batch, which would drop the table on SQLite and delete by cascade all rows that refer to it.
    op.drop_table("failures")
    op.drop_index("ix_answers_asked_at", "answers")
    op.drop_index("ix_answers_after", "answers")
    op.drop_column("answers", "words")
    op.drop_column("answers", "after")


def _note_words() -> None:
    database = op.get_bind()
    for id_ in database.execute(sa.select(ANSWERS.c.id)).scalars().all():
        body = database.execute(sa.select(ANSWERS.c.body).where(ANSWERS.c.id == id_)).scalar_one()
        database.execute(ANSWERS.update().where(ANSWERS.c.id == id_).values(words=_words(body)))


def _words(body: str) -> str:
    """Return the search text of JSON of any version; empty if it cannot be read."""
    try:
        answer = json.loads(body)
        return " ".join(f"{answer['question']} {answer['text']}".casefold().replace("\0", " ").split())
    except (ValueError, KeyError, TypeError):
        return ""
