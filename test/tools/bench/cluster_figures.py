#===- cluster_figures.py - checks what bench cluster has measured -------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Bytes on the wire as predicted, and no step faster than its link."""

import json
import sys

rows = json.load(open(sys.argv[1]))
over_network = [row for row in rows if row["rate"] != "none"]
assert {"overlap off", "overlap on", "PyTorch DDP"} <= {
    row["configuration"] for row in over_network}
for row in over_network:
    name = row["configuration"]
    predicted = row["bytes_sent_per_rank_predicted"]
    for sent in row["bytes_sent_per_rank_measured"]:
        # Headers, acknowledgements and the statistics of normalisations.
        assert 0.98 * predicted < sent < 1.15 * predicted, (name, sent)
    for seconds in row["step_seconds_measured"]:
        # 200 Mbit/s, and what a token bucket lets through at once.
        assert seconds > (0.9 * predicted - 70_000) * 8 / 200e6, (name, seconds)
