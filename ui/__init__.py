"""What a person sees: a Streamlit page that asks, shows, and knows nothing else."""
