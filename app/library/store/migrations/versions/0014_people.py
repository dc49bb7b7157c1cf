"""Add roles of people, sign-ins on the page, and the audit log; write owners as people are named."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "roles",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("person", sa.String(200), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=True),
        sa.Column("scope", sa.String(16), nullable=False),
        sa.Column("granted_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collections.id"], name="fk_roles_collection_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_roles"),
        sa.UniqueConstraint("person", "collection_id", name="uq_roles_person"),
    )
    op.create_index("ix_roles_collection_id", "roles", ["collection_id"])
    op.create_table(
        "sign_ins",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("person", sa.String(200), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sign_ins"),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("who", sa.String(200), nullable=False),
        sa.Column("via", sa.String(16), nullable=False),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("collection", sa.String(200), nullable=False),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_at", "audit", ["at"])
    for table in ("collections", "keys"):  # e-mail addresses are compared in lower case from now on
        op.execute(sa.text(f"UPDATE {table} SET owner = lower(trim(owner)) WHERE owner LIKE '%@%'"))


def downgrade() -> None:
    op.drop_table("audit")
    op.drop_table("sign_ins")
    op.drop_table("roles")
