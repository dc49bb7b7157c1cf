"""The Streamlit page: it takes input, shows results, and holds no logic of its own."""
