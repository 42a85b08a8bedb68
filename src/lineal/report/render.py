"""A report as a page: a pure function of its content."""

from __future__ import annotations

from html import escape

from lineal.report.content import Report


def render(report: Report) -> str:
    """One HTML page that needs nothing else; the same content gives the same bytes."""
    return f'<!DOCTYPE html>\n<html lang="en"><head><title>{escape(report.title)}</title></head></html>\n'
