# shellcheck shell=bash
#===- setup.sh - what the set-up scripts share --------------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sourced by tools/quickstart and tools/run-tests: progress lines with elapsed
# time, installation of missing packages, configuring and building a preset,
# and the Python with onnxruntime. The caller sets `root` (the repository) and
# `logs` (where to write what commands print).
#
#===----------------------------------------------------------------------===#

# shellcheck disable=SC2154

started=$SECONDS

# say TEXT...: a progress line with the time since the script started.
say() {
  local elapsed=$((SECONDS - started))
  printf '[%2d:%02d] %s\n' $((elapsed / 60)) $((elapsed % 60)) "$*"
}

# fail TEXT...: one sentence on stderr, then the script ends with status 1.
fail() {
  printf '%s: error: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# run_logged LOG COMMAND...: runs a command with its output in a file, and
# shows the end of that file when the command fails.
run_logged() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    printf '%s: error: %s failed; the whole output is in %s\n' \
      "$(basename "$0")" "$1" "$log" >&2
    return 1
  fi
}

# as_root COMMAND...: runs a command as root, through sudo where needed.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

# install_packages GROUP...: installs what is missing of the groups of
# tools/packages.txt.
install_packages() {
  local missing=() group package wanted
  command -v dpkg-query >/dev/null ||
    fail "this is not Debian; install the packages named in" \
      "tools/packages.txt by hand and pass --no-install"
  while read -r group package; do
    for wanted in "$@"; do
      [ "$group" = "$wanted" ] || continue
      dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
        grep -qx installed || missing+=("$package")
    done
  done < <(grep -v '^#' "$root/tools/packages.txt")
  if [ ${#missing[@]} = 0 ]; then
    say "all Debian packages are installed"
    return
  fi
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
    fail "${#missing[@]} packages are missing and installing them needs root" \
      "or sudo: ${missing[*]}"
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  as_root apt-get update -q &>"$logs/apt-update.log" ||
    say "apt-get update failed ($logs/apt-update.log); trying to install" \
      "with the lists at hand"
  run_logged "$logs/apt-install.log" as_root env \
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
    --no-install-recommends "${missing[@]}" ||
    fail "could not install the packages"
}

# parallel_jobs: how many compilers to run at once: the cores, but no more than
# memory has room for (an MLIR source takes up to 1.5 GiB).
parallel_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 1572864)}' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

# build_preset PRESET [CMAKE_OPTION...]: configures and builds a preset.
build_preset() {
  local preset=$1 before=$SECONDS
  shift
  run_logged "$logs/configure-$preset.log" \
    cmake --preset "$preset" -S "$root" "$@" || return 1
  run_logged "$logs/build-$preset.log" \
    cmake --build "$root/build/$preset" --parallel "$(parallel_jobs)" ||
    return 1
  say "built build/$preset in $((SECONDS - before)) s"
}

# set_up_onnx_python: a Python with onnx and onnxruntime from PyPI, in
# build/python; sets onnx_python.
set_up_onnx_python() {
  local folder="$root/build/python"
  onnx_python="$folder/bin/python3"
  if "$onnx_python" -c 'import onnx, onnxruntime, numpy' 2>/dev/null; then
    return
  fi
  say "setting up Python with onnxruntime in build/python"
  # The distribution's Python: any other may lack the wheels.
  run_logged "$logs/python.log" /usr/bin/python3 -m venv --clear "$folder" &&
    run_logged "$logs/python.log" "$folder/bin/pip" install --quiet \
      onnx onnxruntime numpy
}
