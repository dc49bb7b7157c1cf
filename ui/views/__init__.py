"""One file per view; ui/main.py names them and Streamlit runs them."""
