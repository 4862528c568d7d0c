"""The tables of Shen (2013), an ablation study, and the settings of her synthetic data sets."""
