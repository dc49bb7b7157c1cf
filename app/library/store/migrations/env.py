"""Entry point for Alembic: migrate over the connection that the store passes in."""

from alembic import context

from propcite.app.library.store.tables import Table

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=Table.metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
