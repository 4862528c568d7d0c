"""The tables of Shen (2013): cross-validations, ablation, and the data sets that were lost."""
