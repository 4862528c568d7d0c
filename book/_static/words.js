// Words as the search compares them: without case, accents, endings, and differences of spelling.
// The stop words and the stemmer are those of Sphinx (language_data.js).
{
  const QUESTION_WORDS = "about can do does from has have how i my our should use using vs versus we what when which why you your";
  const STOP_WORDS = new Set([...stopwords, ...QUESTION_WORDS.split(" ")]);
  const stemmer = new Stemmer();
  const GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "η": "eta", "θ": "theta", "λ": "lambda",
    "μ": "mu", "ν": "nu", "ξ": "xi", "ρ": "rho", "σ": "sigma", "φ": "phi", "χ": "chi",
  };
  // British and American spellings become one form, which need not be a word.
  const SPELLINGS = [
    [/[α-ω]/g, (letter) => GREEK[letter] ?? letter],
    [/_/g, ""],
    [/(?<=[ao])e(?=[^aeiou])/g, ""], // ö, ä and their replacements: Nystroem
    [/(?<=\w{2}[iy])s(?=(?:e[drs]?|ers|ing|able|ations?)$)/, "z"], // regularise, analyse
    [/(?<=\w{2})our(?!$)|(?<=\w{3})our$/, "or"], // neighbour
    [/(?<=cent|met|fib|lit)re(?=[ds]?$)/, "ere"], // centre
    [/(?<=cent)r(?=ing$)/, "er"],
    [/(?<=def|off|lic)ence/, "ense"],
    [/(?<=og)ue(?=s?$)/, ""], // catalogue
    [/(?<=gram)me(?=s?$)/, ""], // programme
    [/^learnt$/, "learned"],
  ];

  const plain = (word) => SPELLINGS.reduce(
    (text, [from, to]) => text.replace(from, to), word.toLowerCase().normalize("NFD").replace(/\p{M}/gu, ""));
  const stemOf = new Map();
  const stem = (word) => {
    if (!stemOf.has(word)) {
      const isPossessiveEnd = word === "s";
      stemOf.set(word, isPossessiveEnd || STOP_WORDS.has(word.toLowerCase()) ? "" : stemmer.stemWord(plain(word)));
    }
    return stemOf.get(word); // empty for a stop word
  };
  const WORD = /[\p{L}\p{N}\p{M}_]+/gu;
  /** Return the stems of a text; a name such as hinge_slope also counts as its parts. */
  const stems = (text) => (text.match(WORD) ?? [])
    .flatMap((word) => word.includes("_") ? [word, ...word.split("_")] : [word]).map(stem).filter(Boolean);

  window.words = { WORD, plain, stem, stems };
}
