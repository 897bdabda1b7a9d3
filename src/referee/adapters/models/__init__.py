"""Models: providers over the network, and scripts and recordings in their place."""
