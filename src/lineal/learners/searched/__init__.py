"""Learners that choose how data are read and how strongly weights are held down, by rows they hold out."""
