"""Changes of structure: which are proposed, and what the evidence says of them."""
