"""``python -m lineal`` is the command ``lineal``."""

from lineal.cli import main

main()
