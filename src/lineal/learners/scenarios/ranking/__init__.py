"""Learning to rank from queries and pairs: the objective, its solver, its proof, the learner."""
