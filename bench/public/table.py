# SPDX-License-Identifier: Apache-2.0
# public/table.py — the rows of a run as text: worst first, the means, and what was left out and why.
import math
import re


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else float("nan")


def size_text(row):
    return "x".join(str(n) for n in row["size"]) if row["project"] != "TritonBench" else \
        ("largest", "2 smaller", "4 smaller")[row["size"][0]]


def timed(rows):
    return sorted((r for r in rows if "ratio" in r), key=lambda r: r["ratio"])


def row_text(r):
    remarks = [r["complaint"]] if r.get("complaint") else []
    if r.get("spills"):
        remarks.append(f"{r['spills']} bytes spilled")
    return (f"| {r['ratio']:.2f} | {r['p10']:.2f}..{r['p90']:.2f} | {r['project']} {r['case']} | `{r['kernel']}` | {size_text(r)} "
            f"| {r['num_warps']} | {r['triton_us']:.1f} | {r['ours_us']:.1f} | {r['error_size']:.1g} | {'; '.join(remarks)} |")


def summary(rows):
    lines = []
    for name, chosen in (("all", rows), ("without products", [r for r in rows if not r["product"]]),
                         *((p, [r for r in rows if r["project"] == p]) for p in dict.fromkeys(r["project"] for r in rows))):
        ratios = [r["ratio"] for r in chosen]
        if ratios:
            kernels = len({(r["project"], r["case"], r["kernel"]) for r in chosen})
            below = sum(v < 0.97 for v in ratios)
            lines.append(f"| {name} | {kernels} | {len(ratios)} | {geometric_mean(ratios):.3f} | {min(ratios):.2f} | {below} |")
    return lines


def markdown(result):
    rows = timed(result["rows"])
    lines = ["# Public Triton kernels: Triton and Tilewright in turns", "", result["machine"], "",
             f"`{result['command']}`", "",
             "Ratio: Triton's time / ours, medians behind an emptied cache; above 1 Tilewright is faster. p10..p90 is the "
             "spread of the ratio of neighbours. Error: the largest difference of results, relative to the larger of the "
             "element and its tensor's root mean square.", "",
             "| set | kernels | rows | geometric mean | worst | below 0.97 |", "|---|---|---|---|---|---|", *summary(rows), "",
             "| ratio | p10..p90 | operation | kernel | size | warps | Triton us | ours us | error | remarks |",
             "|---|---|---|---|---|---|---|---|---|---|", *map(row_text, rows)]
    failed = [r for r in result["rows"] if "ratio" not in r]
    if failed:
        lines += ["", "## Kernels that did not run on one side", "", "| operation | kernel | size | why |", "|---|---|---|---|"]
        lines += [f"| {r['project']} {r['case']} | `{r['kernel']}` | {size_text(r)} | {r['error']} |" for r in failed]
    if result["left_out"]:
        lines += ["", "## Left out", "", "| operation | size | why |", "|---|---|---|"]
        lines += [f"| {r['project']} {r['case']} | {size_text(r)} | {r['why']} |" for r in result["left_out"]]
    return "\n".join(lines) + "\n"


def cases_below(text, ratio):
    """project/name of the cases of a Markdown table with such a row, worst first."""
    names = {}
    for line in text.splitlines():
        row = [cell.strip() for cell in line.split("|")]
        if len(row) > 4 and re.fullmatch(r"\d+\.\d+", row[1]) and float(row[1]) < ratio:
            names["/".join(row[3].split(" ", 1))] = None
    return list(names)
