#!/usr/bin/env python3
"""Merges the JSON lines of one suite into a table and a JSON list. Called by bench/run."""

import argparse
import json
import pathlib
import statistics
import sys

class Figure:
    """What is expected of one figure.

    kind: "ratio", multiples of its floor; "absolute", in its own unit; "least", not less than the budget. No budget: only shown.
    source: the file it is read from, and its floor too; key: its name there. floor_peer: the floor is that of a peer, where it has the
    name that `named` says. named: its names with peers, where they are others.
    """

    def __init__(self, name, budget=None, kind="ratio", floor="floor", source="own", key=None, floor_peer=None, named=None, page_tables=None):
        self.name, self.budget, self.kind, self.source, self.key = name, budget, kind, source, key or name
        self.floor, self.floor_peer, self.page_tables = floor if kind == "ratio" else None, floor_peer, page_tables
        self.named = named or {}

    def name_with(self, peer):
        return self.named.get(peer, self.key)


FIGURES = {
    "core": [
        Figure("floor"),
        Figure("yield", 0.75),
        Figure("yield_shared", source="shared", key="yield"),
        Figure("yield_1000"),
        Figure("spawn_join", 3),
        Figure("await_completed", 0.5),
        Figure("wake_one", 3.5),
        Figure("channel", 3.5),
        Figure("future", 6),
        Figure("pool", 2),
        Figure("task_group", 6),
        Figure("thread_pool_floor", kind="absolute"),
        Figure("thread_pool", 1.5, floor="thread_pool_floor"),
        Figure("parked_kib", 4.4, "absolute"),
    ],
    "net": [
        Figure("echo", 1.08, floor="echo_floor"),
        Figure("socketpair", 1.15, floor="socketpair_floor"),
        Figure("sleeps_100k", 0.5, floor_peer="go"),
        Figure("sleeps_100k_cold", floor_peer="go"),
    ],
    "php": [
        Figure("floor"),
        Figure("suspend", 0.27, named={"go": "yield"}),
        Figure("spawn_await", 2.0, named={"go": "spawn_join"}),
        Figure("channel", 1.6),
        Figure("delay_100k", 1.1, floor_peer="go", named={"go": "sleeps_100k"}),
        Figure("delay_100k_cold", floor_peer="go", named={"go": "sleeps_100k_cold"}),
        Figure("parked_kib", 5.2, "absolute", page_tables=1.2),  # KiB, of each that is parked
        Figure("parked_max", 1_000_000, "least"),
    ],
    "io": [
        Figure("socketpair_php", 1.35, floor="socketpair_floor"),
        Figure("http_64", 1.15, floor="http_64_floor"),
        Figure("http_1500", 1.15, floor="http_1500_floor"),
        Figure("http_9000", 1.15, floor="http_9000_floor"),
        Figure("syscalls_per_request", 4, "absolute"),
        Figure("syscalls_per_request_64", None, "absolute"),
        Figure("file_read", 1.3, floor="file_read_floor"),
        Figure("file_write", 1.3, floor="file_write_floor"),
    ],
}
NOTES = {
    "core": "ratio: multiples of one raw jump_fcontext switch (floor); thread_pool: of libuv's own queue (thread_pool_floor). Peers: their ratio,\n"
            "or their own value.",
    "net": "ratio: CPU time of echo against a bare level-triggered epoll server, time of socketpair against a bare edge-triggered\n"
           "epoll loop, CPU time of sleeps against Go's in the same round. Sleeps: the second round of a process; cold: the first.",
    "php": "ratio: multiples of one native Fiber resumed and suspended, in a process without the extension (floor); CPU time of delays\n"
           "against Go's in the same round: the second of a process; cold: the first. Peers: their ratio to the same floor, or their value.",
    "io": "ratio: time of a round trip over a socketpair in PHP against a bare edge-triggered epoll loop in C++; processor time of a server in PHP\n"
          "for one HTTP request against a bare epoll server in C++; time of files against PHP without the extension. System calls: of all\n"
          "connections one, the worst case, and 64, counted by strace.",
}

PEERS = {"boost_fiber": "Boost.Fiber", "go": "Go", "node": "Node"}
SUITE_PEERS = {"core": ["boost_fiber", "go"], "net": ["boost_fiber", "go"], "php": ["go", "node"], "io": []}


def read_lines(path):
    """Figures by name. Lines of one name (one process per round) become one figure with their median."""
    by_name = {}
    if path.exists():
        for line in path.read_text().splitlines():
            figure = json.loads(line)
            by_name.setdefault(figure["name"], []).append(figure)
    merged = {}
    for name, figures in by_name.items():
        figure = dict(figures[0])
        if len(figures) > 1:
            values = [one["median"] for one in figures]
            figure.update(median=statistics.median(values), min=min(values), max=max(values), rounds=len(values))
            figure["spread"] = (max(values) - min(values)) / figure["median"] if figure["median"] else 0
        merged[name] = figure
    return merged


def rounded(number):
    return None if number is None else round(number, 4)


def peer_entry(figure, peer, sources, missing, floor):
    why = missing.get(peer) or missing.get(f"{peer}.{figure.name}")
    if why:
        return {"not_measured": why}
    found = sources[peer].get(figure.name_with(peer))
    if found is None or figure.name == "floor":
        return None
    own_floor = sources[peer].get("floor", {}).get("median", floor)
    has_ratio = figure.floor is not None and figure.floor_peer is None
    return {"value": rounded(found["median"]), "ratio": rounded(found["median"] / own_floor) if has_ratio else None,
            **{key: found[key] for key in ("count", "page_tables") if key in found}}


def build_entries(suite, sources, missing):
    entries = []
    absent = []
    for figure in FIGURES[suite]:
        found = sources[figure.source].get(figure.key)
        floor = None
        if figure.floor_peer:
            floor = sources[figure.floor_peer].get(figure.name_with(figure.floor_peer), {}).get("median")
        elif figure.floor:
            floor = sources[figure.source].get(figure.floor, {}).get("median")
        if found is None or (figure.floor and not figure.floor_peer and floor is None):
            absent.append(figure.name)
            continue
        ratio = found["median"] / floor if floor else None
        measured = ratio if figure.floor else found["median"]
        is_met = None
        if figure.budget is not None and measured is not None:
            is_met = measured >= figure.budget if figure.kind == "least" else measured <= figure.budget
        entry = {
            "name": figure.name,
            "value": rounded(found["median"]),
            "unit": found["unit"],
            "ratio": rounded(ratio),
            "floor": rounded(floor),
            "budget": figure.budget,
            "verdict": None,
            "rounds": found["rounds"],
            "spread": found.get("spread"),
            **{key: found[key] for key in ("count", "page_tables") if key in found},
        }
        if figure.page_tables and "page_tables" in found:
            entry["page_tables_budget"] = figure.page_tables
            is_met = is_met and found["page_tables"] <= figure.page_tables
        if is_met is not None:
            entry["verdict"] = "ok" if is_met else "MISSED"
        peers = {peer: peer_entry(figure, peer, sources, missing, floor) for peer in SUITE_PEERS[suite]}
        entry["peers"] = {peer: value for peer, value in peers.items() if value is not None}
        entries.append(entry)
    return entries, absent


def peer_cell(entry, peer):
    value = entry["peers"].get(peer)
    if value is None or "not_measured" in value:
        return "-"
    if value["ratio"] is None:
        return amount(value["value"], entry["unit"])
    return f"{value['ratio']:.1f}"


def amount(value, unit):
    return f"{value:,.0f}" if unit == "coroutines" else f"{value:.2f} {unit}"


def print_table(entries, missing, note, shown):
    rows = [["name", "value", "ratio", "budget", "verdict", "spread"] + [PEERS[peer] for peer in shown]]
    for entry in entries:
        budget = entry["budget"]
        unit = "" if entry["ratio"] is not None or entry["unit"] == "coroutines" else f" {entry['unit']}"
        rows.append([
            entry["name"],
            amount(entry["value"], entry["unit"]),
            "-" if entry["ratio"] is None else f"{entry['ratio']:.2f}",
            "-" if budget is None else f"{budget:,g}{unit}",
            entry["verdict"] or "-",
            "-" if entry["spread"] is None else f"{entry['spread'] * 100:.0f}%",
        ] + [peer_cell(entry, peer) for peer in shown])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells).rstrip())
    print()
    print(note)
    for entry in entries:
        for peer, value in entry["peers"].items():
            if value.get("count", entry.get("count")) != entry.get("count"):
                print(f"{PEERS[peer]}: {entry['name']} with {value['count']} instead of {entry['count']}.")
    for entry in entries:
        if "page_tables_budget" in entry:
            print(f"{entry['name']}: page tables {entry['page_tables']:.2f} KiB each, budget {entry['page_tables_budget']:g} KiB.")
    for peer, why in missing.items():
        peer, _, figure = peer.partition(".")
        print(f"{PEERS[peer]}: {figure and figure + ' '}not measured: {why}")
    missed = [entry for entry in entries if entry["verdict"] == "MISSED"]
    for entry in missed:
        measured = entry["value"] if entry["ratio"] is None else entry["ratio"]
        print(f"MISSED {entry['name']}: {measured:.2f}, budget {entry['budget']:g}")
    if any(entry["rounds"] < 7 for entry in entries if entry["unit"] != "calls"):
        print("Fewer than 7 rounds: no verdict should rest on this run.")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", choices=sorted(NOTES), default="core")
    parser.add_argument("--raw", type=pathlib.Path, required=True, help="folder with the *.jsonl files")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="JSON file to write")
    parser.add_argument("--missing", action="append", default=[], metavar="PEER=REASON")
    arguments = parser.parse_args()

    missing = dict(text.split("=", 1) for text in arguments.missing)
    files = {"own": arguments.suite, "shared": "shared", **{peer: peer for peer in SUITE_PEERS[arguments.suite]}}
    sources = {source: read_lines(arguments.raw / f"{file}.jsonl") for source, file in files.items()}
    for peer in SUITE_PEERS[arguments.suite]:
        if not sources[peer]:
            missing.setdefault(peer, "it printed nothing")
    entries, absent = build_entries(arguments.suite, sources, missing)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(entries, indent=2) + "\n")
    print_table(entries, missing, NOTES[arguments.suite], SUITE_PEERS[arguments.suite])
    if absent:
        print(f"bench/report.py: not measured: {', '.join(absent)}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
