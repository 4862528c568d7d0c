"""The tables of Navia-Vazquez et al. (2004), and when a bounded loss reduces the error."""
