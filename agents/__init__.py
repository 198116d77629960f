"""An LLM agent that trains on text environments with Vector Policy Optimization."""
