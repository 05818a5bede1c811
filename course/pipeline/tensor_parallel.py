"""Tensor parallelism inside a stage, by torch: a DeviceMesh of all processes, and a layer's matrices cut over its TP axis.

The processes are a mesh of pp x dp x tp, the TP neighbours next to each other, as in Megatron (course.layout.placement).
"""

import os
import tempfile
from collections import Counter

# torch._dynamo makes this folder when it is imported, and leaves it: nothing is compiled here, so let it be one that is there
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.gettempdir())

import torch
import torch._dynamo  # DTensor imports it when it is first used: seconds that the fork server can spend once for all workers
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from course.pipeline.clocks import Real
from course.pipeline.collectives import CountedAllReduces
from course.pipeline.executor import Share, execute
from course.pipeline.messages import blaming_neighbours
from course.pipeline.model import Block, build_stage
from course.pipeline.replicas import Replica, here

AXES = ("pp", "dp", "tp")  # of the mesh, the slowest first
FUSED = "query_key_value"


def mesh_of(worker, sizes: tuple[int, int, int]) -> DeviceMesh:
    """The mesh of the first pp x dp x tp processes, made once. Every process of the pool must ask at the same time.

    torch names its groups by how many of them a process has seen.
    """
    key = "mesh", sizes
    if key not in worker.groups:
        ranks = torch.arange(sizes[0] * sizes[1] * sizes[2]).view(sizes)
        worker.groups[key] = DeviceMesh("cpu", ranks, mesh_dim_names=AXES)
    return worker.groups[key]


@blaming_neighbours()
def prepare(worker, schedule, sizes, seed, layout: tuple[int, int, int]) -> int:
    """Build this process's share of its stages and keep it for `step`. Returns how many parameters it has."""
    mesh = mesh_of(worker, layout)
    if mesh.get_coordinate() is None:
        return 0
    rank, number, _ = mesh.get_coordinate()
    group = mesh.get_group("dp") if layout[1] > 1 else None
    neighbours = mesh.mesh[rank, :, mesh.get_local_rank("tp")].tolist()
    replica = Replica(mesh.mesh[:, number, mesh.get_local_rank("tp")].tolist(), number, layout[1], group,
                      neighbours[(number + 1) % layout[1]])
    stages = {stage: build_stage(sizes, schedule.stages, stage, seed)
              for stage, home in enumerate(schedule.stage_to_rank) if home == rank}
    if layout[2] > 1:
        for block in (part for stage in stages.values() for part in stage if isinstance(part, Block)):
            share_out(block, mesh["tp"])
    worker.kept = Share(schedule, rank, sizes, seed, stages, worker.progress, replica), _axes(worker, mesh)
    return sum(here(parameter).numel() for parameter in worker.kept[0].parameters)


def _axes(worker, mesh):
    """The name of each group -> its axis. For equal axes of two meshes torch takes the groups of whichever was first."""
    meshes = [made for key, made in worker.groups.items() if key[0] == "mesh" and made is not mesh]
    return {one.get_group(axis).group_name: axis for one in (*meshes, mesh) if one.get_coordinate() is not None
            for axis in AXES if one[axis].size() > 1}


@blaming_neighbours()
def step(worker, number: int, learning_rate: float) -> dict:
    """One step of training. Returns losses and what this process sent, by what was really called.

    all_reduces: axis -> (how many, bytes of what was added up); messages: process -> bytes.
    """
    share, axes = worker.kept
    if number:
        with torch.no_grad():
            for parameter in share.parameters:
                parameter -= learning_rate * parameter.grad
    for parameter in share.parameters:
        parameter.grad = None
    with CountedAllReduces(axes) as counted:
        trace = execute(share, number, Real(), counted=False)
    messages = Counter()
    for (_, target), size in trace.bytes_sent.items():
        messages[share.replica.processes[share.schedule.stage_to_rank[target]]] += size
    return {"losses": trace.losses, "messages": dict(messages),
            "all_reduces": {axis: (counted.calls[axis], counted.bytes[axis]) for axis in counted.calls}}


@blaming_neighbours()
def gradients(worker) -> dict[int, bytes]:
    """The gradients of the last step, whole: stage -> all parameters in their order, float32."""
    share, _ = worker.kept
    whole = {stage: [_whole(name, parameter).flatten() for name, parameter in module.named_parameters()]
             for stage, module in share.stages.items()}
    return {stage: torch.cat(rows).numpy().tobytes() for stage, rows in whole.items()}


def _whole(name, parameter):
    gradient = parameter.grad
    if not isinstance(gradient, DTensor):
        return gradient
    whole = gradient.full_tensor()
    return _by_part(whole, gradient.device_mesh.size()) if FUSED in name else whole


def share_out(block: Block, mesh: DeviceMesh):
    """Cut a layer over the TP axis as Megatron does: each process has some of the heads and a part of the wide layer.

    Two all-reduces in the forward, behind `output` and `down`; two in the backward, before `query_key_value` and `up`.
    """
    for parameter in getattr(block, FUSED).parameters():
        parameter.data = _by_process(parameter.data, mesh.size())
    block.heads //= mesh.size()
    cuts = {FUSED: ColwiseParallel(), "output": RowwiseParallel(), "up": ColwiseParallel(), "down": RowwiseParallel()}
    parallelize_module(block, mesh, cuts, src_data_rank=None)  # all have built the same


def _by_process(rows, processes):
    """The rows query, key, value, each of all heads, so that each process's part of all three stands together."""
    return rows.unflatten(0, (3, processes, -1)).transpose(0, 1).flatten(0, 2)


def _by_part(rows, processes):
    """And back."""
    return rows.unflatten(0, (processes, 3, -1)).transpose(0, 1).flatten(0, 2)
