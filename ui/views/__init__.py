"""One file a view; Streamlit runs them, named in ui/main.py."""
