"""The command line: one file for each verb.

A verb parses its options, calls one function of ``lineal.jobs`` and prints what it returns. Nothing is
computed here, and a verb imports what it needs when it is called, so that ``lineal --help`` and ``lineal
predict`` start at once.

=====  =====================================================================================
exit   means
=====  =====================================================================================
0      done
1      done, and the answer is no: not certified, problems found, a difference too large
2      the command or one of its options cannot be
3      the data cannot be used, or a file cannot be read or written
4      the model file is damaged, is none, or was made by a later version
70     a mistake in Lineal itself
130    interrupted (Ctrl-C)
141    whoever read the output has stopped reading (quiet)
=====  =====================================================================================
"""

from lineal.cli.main import main

__all__ = ["main"]
