"""Words as Python finds them: the pattern of scikit-learn's vectorisers on ``str.lower``."""

import re


def words(text, lowercase=True, min_characters=2):
    """Maximal runs of word characters, at least so many of them."""
    found = re.findall(r"\w+", text.lower() if lowercase else text)
    return [word for word in found if len(word) >= min_characters]
