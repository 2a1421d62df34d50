"""How players learn, and how they are measured."""
