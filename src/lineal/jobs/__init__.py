"""What the command line does, as functions: one job for each verb, without a word printed."""
