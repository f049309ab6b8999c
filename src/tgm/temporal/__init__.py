"""Hidden Markov models of logged episodes: exact inference, variational learning, structure."""
