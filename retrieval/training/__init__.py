"""Train the queries' network: passages keep the base's vectors, questions learn to find sentences and propositions."""
