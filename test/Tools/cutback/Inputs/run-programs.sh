#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs each program of a folder and compares it with what stands beside it.
for program in "$1"/*.json; do
  values=${program%.json}.safetensors
  if said=$(cutback run "$program" --reference --weights="$values" \
              --inputs="$values" --check="$values" 2>&1); then
    echo "$(basename "$program") is right"
  else
    echo "$(basename "$program") is wrong: $said"
  fi
done
