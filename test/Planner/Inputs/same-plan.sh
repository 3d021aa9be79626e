# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# same-plan.sh SCRATCH PYTHON FOLDER GRAPH...: plans each graph by the driver
# and by cutback-opt, under options of several kinds, and compares the halves.
set -eu
scratch=$1 python=$2 folder=$3
shift 3
for graph in "$@"; do
  cutback import "$graph" --locations -o "$scratch.mlir"
  for options in "" "cost-model=pytorch" "cost-model=pytorch rules=torch-2.3" \
    "minimize=peak"; do
    words=()
    for option in $options; do words+=("--$option"); done
    rm -rf "$scratch.folder"
    cutback compile "$graph" --to=partition -o "$scratch.folder" \
      ${words[@]+"${words[@]}"}
    cutback-opt "$scratch.mlir" --cutback-pipeline="$options" \
      -o "$scratch.opt.mlir"
    for half in forward backward; do
      cutback-opt "$scratch.folder/$half.mlir" -o "$scratch.$half.mlir"
    done
    "$python" "$folder/Inputs/compare-halves.py" "$scratch.opt.mlir" \
      "$scratch.forward.mlir" "$scratch.backward.mlir"
  done
done
