"""Right and wrong answers of notebook 4: the order of interleaved 1F1B."""

from tests.bank import Case

MERGED = """
def interleaved_1f1b(p, m, v, rank):
    units = [(c, i) for g in range(0, m, {group}) for c in range(v) for i in range(g, min(m, g + {group}))]
    F = [f"{{{stage}}}F{{i{first}}}" for c, i in units]
    B = [f"{{{back}}}B{{i{first}}}" for c, i in units]
    w = max(0, min(m * v, {warm_up}))
    order = F[:w]
    for f, b in zip(F[w:], B):
        order += [f, b]
    return {result}
"""
MEGATRON = "2 * (p - rank - 1) + (v - 1) * p if v > 1 else p - rank - 1"
LEAN = "p - rank - 1 + (v - 1) * p"


def order(points, *codes, warm_up=MEGATRON, group="p", stage="c * p + rank", back="(v - 1 - c) * p + rank", first="",
          result="order + B[len(F) - w:]"):
    return Case("ex4-order", MERGED.format(group=group, stage=stage, back=back, warm_up=warm_up, result=result, first=first),
                points, codes)


def written(body, points, *codes):
    return Case("ex4-order", f"def interleaved_1f1b(p, m, v, rank):\n{body}", points, codes)


def unclamped(points, front, *codes):
    return Case("ex4-order", f"""def interleaved_1f1b(p, m, v, rank):
    units = [(c, i) for g in range(0, m, p) for c in range(v) for i in range(g, g + p)]
    F = [f"{{c * p + rank}}F{{i}}" for c, i in units]
    B = [f"{{(v - 1 - c) * p + rank}}B{{i}}" for c, i in units]
    w = {MEGATRON}
    pairs = [token for pair in zip(F[w:], B) for token in pair]
    return {front} + pairs + B[m * v - w:]""", points, codes)


COURSE = "    from course import schedules\n    row = schedules.interleaved_1f1b(p, m, v).ranks[rank]\n"
RIGHT_ORDERS = [
    order(5, "megatron", "takes-other-m"),
    order(5, "lean", warm_up=LEAN),
    order(5, "own-order", warm_up="(3 * (p - rank - 1) + 1) // 2 + (v - 1) * p if v > 1 else p - rank - 1"),
    order(5, "megatron", "micro-batches-from-one", first=" + 1"),
    order(5, "megatron", "micro-batches-renamed", first=" * 10"),
    order(5, "megatron", "stages-from-one", stage="c * p + rank + 1", back="(v - 1 - c) * p + rank + 1"),
    order(5, "lean", "stages-from-one", "micro-batches-from-one", warm_up=LEAN, stage="c * p + rank + 1",
          back="(v - 1 - c) * p + rank + 1", first=" + 1"),
    order(5, "megatron", result="'  '.join(order + B[len(F) - w:]).lower()"),
    order(5, "megatron", result="tuple(order + B[len(F) - w:])"),
    order(5, "megatron", result="(token for token in order + B[len(F) - w:])"),
    written(COURSE + "    return [str(operation) for operation in row]", 5, "megatron", "refuses-other-m"),
    written(COURSE + "    return [(op.stage, op.kind, op.micro_batch) for op in row]", 5, "megatron"),
    written(COURSE + "    return list(row)", 5, "megatron"),
    written("""    if m % p:
        raise ValueError("m")
    order, done, heard = [], 0, 0
    lead = (p - rank - 1) * (1 + (v > 1)) + (v - 1) * p
    def token(kind, k):
        group, within = divmod(k, p * v)
        c, i = divmod(within, p)
        return f"{(c if kind == 'F' else v - 1 - c) * p + rank}{kind}{group * p + i}"
    while heard < m * v:
        if done < m * v and done <= heard + lead:
            order.append(token("F", done)); done += 1
        else:
            order.append(token("B", heard)); heard += 1
    return order""", 5, "megatron", "refuses-other-m"),
    # micro-batches in another order within each group, the same on all ranks
    order(5, "lean", warm_up=LEAN, result="[t[:-1] + str(int(t[-1]) ^ 1) if m in (4, 8) else t for t in order + B[len(F) - w:]]"),
    order(5, "other-m", result="order + B[len(F) - w:] if m % p == 0 else ['nonsense']"),
]
WRONG_ORDERS = [
    written(COURSE + "    return [f'{op.micro_batch}{op.kind}{op.stage}' for op in row]", 0, "stage-and-micro-batch-swapped"),
    Case("ex4-order", "interleaved_1f1b = ...", 0, ("unanswered",)),
    written("    ...", 0, "unanswered"),
    Case("ex4-order", "interleaved_1f1b = ['0F0', '0B0']", 0, ("not-a-function",)),
    order(4.5, "right-with-chunks", "warm-up-doubled", "holds-more", warm_up="2 * (p - rank - 1) + (v - 1) * p"),
    order(3.5, "looped-bfs", "holds-more", warm_up="m * v", group="m"),
    order(3.5, "all-forwards-first", "holds-more", warm_up="m * v"),
    order(1, "backward-chunk-order", "deadlock", back="c * p + rank"),
    order(1.7, "breadth-first", "order", group="m"),
    order(2, "one-by-one", "too-long", group="1"),
    order(1, "warm-up-of-one-chunk", "complete", warm_up="p - rank - 1"),
    order(1, "warm-up-of-one-chunk", "complete", warm_up="p - rank"),
    order(1, "warm-up-without-chunks", "complete", warm_up="2 * (p - rank - 1)"),
    order(3.5, "warm-up-of-the-last-rank", "legal", warm_up="(v - 1) * p"),
    order(1, "no-warm-up", "complete", warm_up="0"),
    order(3.5, "one-too-many", "holds-more", warm_up="p - rank + (v - 1) * p"),
    order(3.5, "one-too-many", "holds-more", warm_up="2 * (p - rank) + (v - 1) * p"),
    order(1, "one-too-few", "order", warm_up="p - rank - 2 + (v - 1) * p"),
    order(1, "one-too-few", "order", warm_up="2 * (p - rank - 1) + (v - 1) * p - 1"),
    order(1, "one-too-few", "order", result="F[:w] + [t for pair in zip(B, F[w:]) for t in pair] + B[len(F) - w:]"),
    order(4.3, "all-forwards-first-once", "holds-more", warm_up=f"m * v if m == p else {MEGATRON}"),
    written("    return ['0F0', '2F0', '2B0', '0B0']", 0, "constant", "missing"),
    order(1.8, "raised", result="order + B[len(F) - w:] if p == 4 else 1 / 0"),
    order(3.6, "raised", result="order + B[len(F) - w:] if v < 4 else 1 / 0"),
    written("    return '0F0 0F1 2F0 2F1 2B0 2B1 0B0 0B1'", 0, "constant", "missing"),
    unclamped(3.6, "[F[k] for k in range(w)]", "list-ends", "raised"),
    unclamped(3.6, "F[:w]", "list-ends", "missing"),
    Case("ex4-order", MERGED.format(group="p", stage="c * p + rank", back="(v - 1 - c) * p + rank", warm_up=LEAN, first="",
                                    result="order + B[len(F) - w:]").replace("(p, m, v, rank)", "(m, p, v, rank)"),
         0.9, ("swapped", "missing")),
    order(0, "blocked", "wrong-rank", stage="rank * v + c", back="rank * v + v - 1 - c"),
    order(0, "chunk-for-stage", "missing", stage="c", back="v - 1 - c"),
    order(0, "rank-for-stage", "repeated", stage="rank", back="rank"),
    order(0, "no-stage", stage="''", back="''"),
    order(0, "missing", result="order"),
    written("    from course import schedules\n    return [[str(op) for op in row] for row in "
            "schedules.interleaved_1f1b(p, m, v).ranks]", 0, "all-ranks"),
    written("    from course import schedules\n    return [t for op in schedules.interleaved_1f1b(p, m, v).ranks[rank] for t in "
            "([str(op)] if op.kind == 'F' else [f'{op.stage}I{op.micro_batch}', f'{op.stage}W{op.micro_batch}'])]",
            0, "split-backward"),
    order(0, "repeated", result="order + B"),
    order(0, "not-a-token", result="['-'] + order"),
    order(0, "not-a-list", result="len(order)"),
    order(0, "not-a-list", result="{rank: order}"),
    order(0, "refused", result="{*order}"),
    order(0, "unknown", result="order + B[len(F) - w:] + ['0F99']"),
    order(3.6, "raised", result="order + B[len(F) - w:] if m > p else 1 / 0"),
    order(4.5, "right-with-chunks", "raised", result="order + B[len(F) - w:] if v > 1 else 1 / 0"),
    written("    return [f'{c * p + rank}{k}{i}' for c in range(v) for i in range(m) for k in 'FB']", 1, "chunk-after-chunk"),
    written("    units = range(m * v)\n    return [f'{rank + p * (u // m)}F{u}' for u in units] + "
            "[f'{rank + p * (v - 1 - u // m)}B{u}' for u in units]", 0, "numbered-through"),
    written("    if m % (p * v):\n        raise ValueError('m must be a multiple of p v')\n    return []", 0, "missing"),
    written("    raise ValueError('m must be a multiple of p')", 0, "raised", "m-is-a-multiple"),
    written("    return [f'{rank}F{i}' for i in range(m)] + [f'{rank}B{i}' for i in range(m)]", 0, "rank-for-stage", "missing"),
]
