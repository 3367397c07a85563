#!/usr/bin/env python3
"""Merges the JSON lines of one suite into a table and a JSON list. Called by bench/run."""

import argparse
import json
import pathlib
import statistics
import sys

# name, budget, kind. "ratio": multiples of the floor; "absolute": in the figure's own unit. No budget: only shown.
FIGURES = [
    ("floor", None, "ratio"),
    ("yield", 0.75, "ratio"),
    ("yield_shared", None, "ratio"),
    ("yield_1000", None, "ratio"),
    ("spawn_join", 3, "ratio"),
    ("await_completed", 0.5, "ratio"),
    ("wake_one", 3.5, "ratio"),
    ("channel", 3.5, "ratio"),
    ("future", 6, "ratio"),
    ("pool", 2, "ratio"),
    ("task_group", 6, "ratio"),
    ("thread_pool_floor", None, "absolute"),
    ("thread_pool", 1.5, "ratio"),
    ("parked_kib", 4.4, "absolute"),
]

# What is not measured against a switch: name, its own floor.
OWN_FLOORS = {"thread_pool": "thread_pool_floor"}

# name, budget, where the floor is measured (a peer, or nothing for ourselves), its name there
NET_FIGURES = [
    ("echo", 1.08, None, "echo_floor"),
    ("socketpair", 1.15, None, "socketpair_floor"),
    ("sleeps_100k", 0.5, "go", "sleeps_100k"),
    ("sleeps_100k_cold", None, "go", "sleeps_100k_cold"),
]
NOTES = {
    "core": "ratio: multiples of one raw jump_fcontext switch (floor); thread_pool: of libuv's own queue (thread_pool_floor). Peers: their ratio,\n"
            "or their own value.",
    "net": "ratio: CPU time of echo against a bare level-triggered epoll server, time of socketpair against a bare edge-triggered\n"
           "epoll loop, CPU time of sleeps against Go's in the same round. Sleeps: the second round of a process; cold: the first.",
}

PEERS = {"boost_fiber": "Boost.Fiber", "go": "Go"}


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


def ratio_of(figure, kind, floor):
    return figure["median"] / floor if kind == "ratio" else None


def peer_entry(peer, name, kind, peer_figures, missing, floor):
    why = missing.get(peer) or missing.get(f"{peer}.{name}")
    if why:
        return {"not_measured": why}
    figure = peer_figures[peer].get("yield" if name == "yield_shared" else name)
    if figure is None or name == "floor":
        return None
    own_floor = peer_figures[peer].get("floor", {}).get("median", floor)
    return {"value": round(figure["median"], 3), "ratio": rounded(ratio_of(figure, kind, own_floor)),
            **({"count": figure["count"]} if "count" in figure else {})}


def rounded(number):
    return None if number is None else round(number, 4)


def build_entries(own, shared, peer_figures, missing):
    entries = []
    absent = []
    core_floor = own["floor"]["median"]
    for name, budget, kind in FIGURES:
        source, key = (shared, "yield") if name == "yield_shared" else (own, name)
        floor_name = OWN_FLOORS.get(name, "floor")
        if key not in source or floor_name not in source:
            absent.append(name)
            continue
        figure = source[key]
        floor = source[floor_name]["median"]
        ratio = ratio_of(figure, kind, floor)
        measured = ratio if kind == "ratio" else figure["median"]
        entry = {
            "name": name,
            "value": rounded(figure["median"]),
            "unit": figure["unit"],
            "ratio": rounded(ratio),
            "floor": rounded(floor) if kind == "ratio" else None,
            "budget": budget,
            "verdict": None if budget is None else ("ok" if measured <= budget else "MISSED"),
            "rounds": figure["rounds"],
            "spread": figure.get("spread"),
        }
        for extra in ("count", "page_tables"):
            if extra in figure:
                entry[extra] = figure[extra]
        peers = {peer: peer_entry(peer, name, kind, peer_figures, missing, core_floor) for peer in PEERS}
        entry["peers"] = {peer: value for peer, value in peers.items() if value is not None}
        entries.append(entry)
    return entries, absent


def build_net_entries(own, peer_figures, missing):
    entries = []
    absent = []
    for name, budget, peer, floor_name in NET_FIGURES:
        if name not in own:
            absent.append(name)
            continue
        figure = own[name]
        floor = (peer_figures[peer] if peer else own).get(floor_name, {}).get("median")
        if floor is None and not peer:
            absent.append(floor_name)
        ratio = figure["median"] / floor if floor else None
        entries.append({
            "name": name,
            "value": rounded(figure["median"]),
            "unit": figure["unit"],
            "ratio": rounded(ratio),
            "floor": rounded(floor),
            "budget": budget,
            "verdict": None if budget is None or ratio is None else ("ok" if ratio <= budget else "MISSED"),
            "rounds": figure["rounds"],
            "spread": figure.get("spread"),
            "peers": {peer: {"value": rounded(floor), "ratio": None}} if peer and floor else {},
        })
    return entries, absent


def peer_cell(entry, peer):
    value = entry["peers"].get(peer)
    if value is None or "not_measured" in value:
        return "-"
    if value["ratio"] is None:
        return f"{value['value']:.2f} {entry['unit']}"
    return f"{value['ratio']:.1f}"


def print_table(entries, missing, note):
    rows = [["name", "value", "ratio", "budget", "verdict", "spread"] + list(PEERS.values())]
    for entry in entries:
        budget = entry["budget"]
        unit = "" if entry["ratio"] is not None else f" {entry['unit']}"
        rows.append([
            entry["name"],
            f"{entry['value']:.2f} {entry['unit']}",
            "-" if entry["ratio"] is None else f"{entry['ratio']:.2f}",
            "-" if budget is None else f"{budget:g}{unit}",
            entry["verdict"] or "-",
            "-" if entry["spread"] is None else f"{entry['spread'] * 100:.0f}%",
        ] + [peer_cell(entry, peer) for peer in PEERS])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells).rstrip())
    print()
    print(note)
    for entry in entries:
        for peer, value in entry["peers"].items():
            if "count" in value and value["count"] != entry.get("count"):
                print(f"{PEERS[peer]}: {entry['name']} with {value['count']} instead of {entry['count']}.")
    for peer, why in missing.items():
        peer, _, figure = peer.partition(".")
        print(f"{PEERS[peer]}: {figure and figure + ' '}not measured: {why}")
    missed = [entry for entry in entries if entry["verdict"] == "MISSED"]
    for entry in missed:
        measured = entry["value"] if entry["ratio"] is None else entry["ratio"]
        print(f"MISSED {entry['name']}: {measured:.2f}, budget {entry['budget']:g}")
    if entries and min(entry["rounds"] for entry in entries) < 7:
        print("Fewer than 7 rounds: no verdict should rest on this run.")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", choices=sorted(NOTES), default="core")
    parser.add_argument("--raw", type=pathlib.Path, required=True, help="folder with the *.jsonl files")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="JSON file to write")
    parser.add_argument("--missing", action="append", default=[], metavar="PEER=REASON")
    arguments = parser.parse_args()

    missing = dict(text.split("=", 1) for text in arguments.missing)
    own = read_lines(arguments.raw / f"{arguments.suite}.jsonl")
    shared = read_lines(arguments.raw / "shared.jsonl")
    peer_figures = {peer: read_lines(arguments.raw / f"{peer}.jsonl") for peer in PEERS}
    for peer, figures in peer_figures.items():
        if not figures:
            missing.setdefault(peer, "it printed nothing")
    if arguments.suite == "core" and "floor" not in own:
        print("bench/report.py: the floor was not measured", file=sys.stderr)
        return 3

    if arguments.suite == "net":
        entries, absent = build_net_entries(own, peer_figures, missing)
    else:
        entries, absent = build_entries(own, shared, peer_figures, missing)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(entries, indent=2) + "\n")
    print_table(entries, missing, NOTES[arguments.suite])
    if absent:
        print(f"bench/report.py: not measured: {', '.join(absent)}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
