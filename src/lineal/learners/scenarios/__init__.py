"""Learners for data that are not rows with a label each: rankings, marks, bags, few labels."""
