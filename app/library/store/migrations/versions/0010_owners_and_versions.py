"""Add owners, users' details of documents, earlier versions, and counts of an answer's facts."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

COUNTS = ("num_facts", "num_cited", "num_contradicted")
ANSWERS = sa.table(
    "answers", sa.column("id", sa.String), sa.column("body", sa.Text), *(sa.column(name, sa.Integer) for name in COUNTS)
)


def upgrade() -> None:
    op.add_column("collections", sa.Column("owner", sa.String(200), nullable=False, server_default=""))
    op.add_column("keys", sa.Column("owner", sa.String(200), nullable=True))
    op.add_column("documents", sa.Column("described", sa.JSON(), nullable=False, server_default="{}"))
    for name in COUNTS:
        op.add_column("answers", sa.Column(name, sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("num_passages", sa.Integer(), nullable=False),
        sa.Column("num_characters", sa.Integer(), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collections.id"], name="fk_versions_collection_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_versions"),
    )
    op.create_index("ix_versions_collection_id", "versions", ["collection_id"])
    op.create_index("ix_versions_document_id", "versions", ["document_id"])
    _count()


def downgrade() -> None:
    # Not in a batch, which would drop the table on SQLite and delete by cascade all rows that refer to it.
    op.drop_table("versions")
    for name in COUNTS:
        op.drop_column("answers", name)
    op.drop_column("documents", "described")
    op.drop_column("keys", "owner")
    op.drop_column("collections", "owner")


def _count() -> None:
    database = op.get_bind()
    for id_ in database.execute(sa.select(ANSWERS.c.id)).scalars().all():
        body = database.execute(sa.select(ANSWERS.c.body).where(ANSWERS.c.id == id_)).scalar_one()
        database.execute(ANSWERS.update().where(ANSWERS.c.id == id_).values(_counts(body)))


def _counts(body: str) -> dict[str, int]:
    """Count the facts in JSON of any version; all zero if it cannot be read."""
    try:
        facts = [p for s in json.loads(body)["sentences"] for p in s["propositions"] if p["check_worthy"]]
        against = [p for p in facts if p["verdict"] and p["verdict"]["label"] == "contradicted"]
        return dict(zip(COUNTS, (len(facts), sum(bool(p["citations"]) for p in facts), len(against)), strict=True))
    except (ValueError, KeyError, TypeError):
        return dict.fromkeys(COUNTS, 0)
