"""The compiled parts of the search: worlds, the solver, trees."""
