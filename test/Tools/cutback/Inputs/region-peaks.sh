# Peaks of chains in nested regions: region-peaks.sh FOLDER PYTHON SPEC...
set -e
inputs=$(dirname "$0")
folder=$1 python=$2
shift 2
for spec in "$@"; do
  $python "$inputs/region-chain.py" "$spec" > "$folder/$spec.mlir"
  cutback report "$folder/$spec.mlir" --strategy=eager --json > "$folder/$spec.json"
done
$python "$inputs/region-peaks.py" "$folder" "$@"
