"""One belief: which state was left and which was reached, or whether it is a new one."""
