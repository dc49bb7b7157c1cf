"""Add jobs that read documents, which every server and worker shares, and what became of their sources."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

READING = sa.text("state = 'reading'")


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("again", sa.Boolean(), nullable=False),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("on_page", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("cancelled", sa.Boolean(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("progress", sa.JSON(), nullable=True),
        sa.Column("fetched", sa.JSON(), nullable=True),
        sa.Column("worker", sa.String(200), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collections.id"], name="fk_jobs_collection_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_collection_id", "jobs", ["collection_id"])
    op.create_index(
        "uq_jobs_reading",
        "jobs",
        ["collection_id"],
        unique=True,
        sqlite_where=READING,
        postgresql_where=READING,
    )
    op.create_table(
        "job_outcomes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(64), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_job_outcomes_job_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_job_outcomes"),
    )
    op.create_index("ix_job_outcomes_job_id", "job_outcomes", ["job_id"])


def downgrade() -> None:
    op.drop_table("job_outcomes")
    op.drop_table("jobs")
