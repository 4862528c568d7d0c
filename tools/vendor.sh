#!/bin/sh
# Download the script libraries of the pages and keep only the files that are loaded, so that
# pages make no requests to other hosts. book/_vendor/README.md describes the libraries.
set -eu
cd "$(dirname "$0")/.."
mathjax=3.2.2
tippy=6.3.7
popper=2.11.8
thebe=0.9.3
requirejs=2.3.8
markdown=14.1.0
stix=5.3.0
reveal=5.2.1
vendor=$PWD/book/_vendor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

unpack() { # package@version -> $work/<name>
    (cd "$work" && tar -xzf "$(npm pack --silent "$1")" && mv package "$2")
}
unpack "mathjax@$mathjax" mathjax

rm -rf "$vendor/mathjax"
mkdir -p "$vendor/mathjax/output/chtml/fonts" "$vendor/mathjax/input/tex" "$vendor/mathjax/a11y"
cp "$work/mathjax/LICENSE" "$vendor/mathjax/"
# The components listed in `_config.yml`, and those that they load.
for part in startup core input/tex output/chtml output/chtml/fonts/tex a11y/assistive-mml; do
    cp "$work/mathjax/es5/$part.js" "$vendor/mathjax/$part.js"
done
cp -R "$work/mathjax/es5/output/chtml/fonts/woff-v2" "$vendor/mathjax/output/chtml/fonts/"
# Commands such as \boldsymbol and \cancel load their extensions at first use.
cp -R "$work/mathjax/es5/input/tex/extensions" "$vendor/mathjax/input/tex/"
rm "$vendor/mathjax/input/tex/extensions/all-packages.js"

unpack "tippy.js@$tippy" tippy
unpack "@popperjs/core@$popper" popper
mkdir -p "$vendor/tippy"
cp "$work/popper/dist/umd/popper.min.js" "$work/tippy/dist/tippy-bundle.umd.min.js" "$vendor/tippy/"
cp "$work/tippy/LICENSE" "$vendor/tippy/tippy-LICENSE"
cp "$work/popper/LICENSE.md" "$vendor/tippy/popper-LICENSE.md"
# The icons used by icons.css and the theme's style sheets, as a subset of the theme's font.
icons=f002,f00d,f010,f019,f03a,f042,f057,f058,f05a,f062,f064,f065,f06a,f071,f078,f0c9,f0eb
icons=$icons,f0f3,f104,f105,f107,f15b,f185,f186,f1c1,f303,f35d
theme=$(.venv/bin/python -c 'import pydata_sphinx_theme; print(pydata_sphinx_theme.__path__[0])')
fontawesome=$(echo "$theme"/theme/*/static/vendor/fontawesome/*/webfonts/fa-solid-900.ttf)
mkdir -p "$vendor/icons"
.venv/bin/pyftsubset "$fontawesome" --unicodes="$icons" --flavor=woff \
    --output-file="$vendor/icons/icons.woff"
cp "$(dirname "$fontawesome")/../LICENSE.txt" "$vendor/icons/LICENSE"
# The libraries of `make live`. Addresses of other hosts in Thebe are replaced by local ones.
live=$PWD/tools/live/vendor
unpack "thebe@$thebe" thebe
unpack "thebe-core@0.5.0" thebe-core  # contains the licence of both
unpack "requirejs@$requirejs" requirejs
unpack "markdown-it@$markdown" markdown
rm -rf "$live"
mkdir -p "$live"
sed -e 's#https://cdnjs[^"`]*/require.min.js#/live/vendor/require.js#g' -e 's#https://cdnjs[^"`]*/MathJax.js##g' \
    -e 's#https://cdn.jsdelivr.net/npm/#/live/vendor/#g' -e '/^\/\/# sourceMappingURL/d' \
    "$work/thebe/lib/index.js" > "$live/thebe.js"
cp "$work/thebe/lib/thebe.css" "$work/requirejs/require.js" "$live/"
cp "$work/thebe-core/LICENSE" "$live/thebe-LICENSE"
cp "$work/thebe/lib/index.js.LICENSE.txt" "$live/thebe-parts-LICENSE.txt"
cp "$work/markdown/dist/markdown-it.min.js" "$live/markdown-it.js"
cp "$work/markdown/LICENSE" "$live/markdown-it-LICENSE"
# The font of the formulas in the EPUB: many readers have none with stretched brackets and sums.
fonts=$PWD/tools/vendor
unpack "@fontsource/stix-two-math@$stix" stix
mkdir -p "$fonts"
cp "$work/stix/files/stix-two-math-latin-400-normal.woff" "$fonts/stix-two-math.woff"
cp "$work/stix/LICENSE" "$fonts/stix-two-math-LICENSE"
# The libraries of `make slides`, next to which MathJax is copied.
slides=$PWD/tools/decks/vendor/reveal
unpack "reveal.js@$reveal" reveal
rm -rf "$slides"
mkdir -p "$slides"
cp "$work/reveal/dist/reveal.css" "$work/reveal/LICENSE" "$slides/"
for script in dist/reveal.js plugin/notes/notes.js; do
    sed '/^\/\/# sourceMappingURL/d' "$work/reveal/$script" > "$slides/$(basename "$script")"
done
du -sh "$vendor" "$live" "$fonts" "$slides"
