"""What fitted estimators know beyond their predictions, in a model's record: for those who go on learning."""
