"""``lineal completion``: names completed by the shell."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(*, shell: str) -> int:
    """Prints a script that lets SHELL complete verbs, options and files.

    \b
    bash:  echo 'eval "$(lineal completion bash)"' >> ~/.bashrc
    zsh:   echo 'eval "$(lineal completion zsh)"' >> ~/.zshrc
    fish:  lineal completion fish > ~/.config/fish/completions/lineal.fish
    """
    from click.shell_completion import get_completion_class

    from lineal.cli.main import lineal

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(lineal, {}, "lineal", "_LINEAL_COMPLETE").source())
    return 0
