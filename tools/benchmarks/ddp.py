#===- ddp.py - one rank of PyTorch's data-parallel training -------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Trains a network of cluster_nets.py with DistributedDataParallel and gloo.

Started once per host by `bench cluster`, which gives RANK, WORLD_SIZE,
MASTER_ADDR, MASTER_PORT and GLOO_SOCKET_IFNAME. Rank 0 writes a JSON line per
step, as the programs of Partita do.
"""

import json
import os
import sys
import time

sys.dont_write_bytecode = True

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.distributed as distributed  # noqa: E402

import cluster_nets  # noqa: E402


def main(net, data, batch, steps, rate, metrics):
    batch, steps = int(batch), int(steps)
    torch.set_num_threads(1)
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    distributed.init_process_group("gloo")
    x = torch.from_numpy(np.load(f"{data}/input.npy"))
    y = torch.from_numpy(np.load(f"{data}/labels.npy"))
    module = torch.nn.parallel.DistributedDataParallel(
        cluster_nets.build(net))
    optimizer = torch.optim.SGD(module.parameters(), lr=float(rate))
    batches = len(x) // (batch * ranks)
    lines = []
    start = time.perf_counter()
    for step in range(steps):
        first = step % batches * batch * ranks + rank * batch
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(
            module(x[first:first + batch]), y[first:first + batch])
        loss.backward()
        optimizer.step()
        lines.append({"step": step + 1, "loss": loss.item(),
                      "seconds": time.perf_counter() - start})
    # The mean over ranks: what the first step has computed.
    first_loss = torch.tensor(lines[0]["loss"])
    distributed.all_reduce(first_loss)
    lines[0]["loss"] = first_loss.item() / ranks
    if rank == 0:
        with open(metrics, "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
