# Copies of the tree that mutants are put into: run.sh and rows.sh source this.
# They set and export root (the tree), OUT (where copies go) and TARGET (what is
# built, one or more names).

# Copies what differs, so that nothing else is compiled again.
copy_tree() {
  local to=$1 file
  mkdir -p "$to"
  (cd "$root" && git ls-files -z --cached --others --exclude-standard) |
    while IFS= read -r -d '' file; do
      [ -f "$root/$file" ] || continue
      printf '%s\n' "$file"
      cmp -s "$root/$file" "$to/$file" || {
        mkdir -p "$to/$(dirname "$file")"
        cp "$root/$file" "$to/$file"
      }
    done | sort > "$to.files"
  (cd "$to" && find . -type f | sed 's,^\./,,' | sort) |
    comm -13 "$to.files" - | (cd "$to" && xargs -r -d '\n' rm --)
}

# The copies share what was compiled: to ccache both have the same paths.
build() {
  local copy=$OUT/$1
  CCACHE_BASEDIR=$copy CCACHE_NOHASHDIR=1 nice \
    cmake --build "$copy/build" --parallel "$2" --target $TARGET
}

prepare() {
  local copy=$OUT/$1
  copy_tree "$copy/tree"
  (cd "$copy/tree" && CCACHE_BASEDIR=$copy CCACHE_NOHASHDIR=1 \
    cmake --preset release -B "$copy/build" -DWEIR_WERROR=OFF \
    -DWEIR_SHARED="$root/../shared" --log-level=WARNING)
}

# put SLOT FILE [-R]: the patch FILE into the copy, or out of it.
put() {
  local copy=$OUT/$1 file=$2
  shift 2
  (cd "$copy/tree" && GIT_DIR=/nonexistent git apply --whitespace=nowarn "$@" \
    "$file")
}
