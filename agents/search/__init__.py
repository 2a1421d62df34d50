"""Players that search: worlds consistent with what a seat knows, an exact solver, and what is built on them."""
