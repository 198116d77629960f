"""One file for each algorithm: `train(setting)` returns the policies that the algorithm offers."""
