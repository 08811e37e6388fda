#===- compile_models.py - Certificates of all models ---------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Writes OUT/MODEL-GRID.json for every model under several grids.

    compile_models.py partita MODELS OUT
"""

import pathlib
import subprocess
import sys

MODELS = ["mlp", "lenet5", "resnet_tiny", "densenet_tiny", "unet_tiny",
          "vit_tiny", "gpt_tiny", "mobilenet_v2_quarter"]
GRIDS = {
    "3": ["--batch", "4", "--ranks", "3"],
    "5-empty": ["--batch", "3", "--ranks", "5"],
    "2-domain": ["--batch", "4", "--grid", "2:domain"],
    "2x2-paper": ["--batch", "4", "--grid", "2x2:paper"],
    "2x3-paper": ["--batch", "7", "--grid", "2x3:paper", "--overlap", "off",
                  "--bucket-size", "16384"],
    "3-served": ["--batch", "4", "--ranks", "3", "--sync", "parameter_server",
                 "--servers", "2"],
    "2x2-served": ["--batch", "4", "--grid", "2x2:paper", "--sync",
                   "parameter_server", "--servers", "3"],
}


def main():
    partita, models, out = sys.argv[1:]
    good = True
    for model in MODELS:
        for name, options in GRIDS.items():
            command = [partita, "compile",
                       str(pathlib.Path(models) / f"{model}.onnx"), *options,
                       "--emit=certificate", "-o", f"{out}/{model}-{name}.json"]
            result = subprocess.run(command, capture_output=True, text=True,
                                    check=False)
            if result.returncode != 0 or "proved: " not in result.stderr:
                good = False
                print(" ".join(command))
                print(result.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
