"""What is learned and how: the default learner and the paper's."""
