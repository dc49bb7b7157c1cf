"""Let a person have one role over all collections: a unique constraint counts two rows without a collection apart."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

OVER_ALL = sa.text("collection_id IS NULL")


def upgrade() -> None:
    newest = "SELECT max(id) FROM roles WHERE collection_id IS NULL GROUP BY person"
    op.execute(sa.text(f"DELETE FROM roles WHERE collection_id IS NULL AND id NOT IN ({newest})"))
    op.create_index(
        "uq_roles_over_all", "roles", ["person"], unique=True, sqlite_where=OVER_ALL, postgresql_where=OVER_ALL
    )


def downgrade() -> None:
    op.drop_index("uq_roles_over_all", "roles")
