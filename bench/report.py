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
# name, budget, kind as above, its name on Go; "go": CPU time against Go's; "least": not less than the budget
PHP_FIGURES = [
    ("floor", None, "ratio", None),
    ("suspend", 0.27, "ratio", "yield"),
    ("spawn_await", 2.0, "ratio", "spawn_join"),
    ("channel", 1.6, "ratio", "channel"),
    ("delay_100k", 1.1, "go", "sleeps_100k"),
    ("delay_100k_cold", None, "go", "sleeps_100k_cold"),
    ("parked_kib", 5.2, "absolute", "parked_kib"),
    ("parked_max", 1_000_000, "least", None),
]
PHP_PAGE_TABLES = 1.2  # KiB, of each that is parked
NOTES = {
    "core": "ratio: multiples of one raw jump_fcontext switch (floor); thread_pool: of libuv's own queue (thread_pool_floor). Peers: their ratio,\n"
            "or their own value.",
    "net": "ratio: CPU time of echo against a bare level-triggered epoll server, time of socketpair against a bare edge-triggered\n"
           "epoll loop, CPU time of sleeps against Go's in the same round. Sleeps: the second round of a process; cold: the first.",
    "php": "ratio: multiples of one native Fiber resumed and suspended, in a process without the extension (floor); CPU time of delays\n"
           "against Go's in the same round: the second of a process; cold: the first. Peers: their ratio to the same floor, or their value.",
}

PEERS = {"boost_fiber": "Boost.Fiber", "go": "Go", "node": "Node"}
SUITE_PEERS = {"core": ["boost_fiber", "go"], "net": ["boost_fiber", "go"], "php": ["go", "node"]}


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
        peers = {peer: peer_entry(peer, name, kind, peer_figures, missing, core_floor)
                 for peer in SUITE_PEERS["core"]}
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


def php_peer(figure, kind, floor, why):
    if figure is None:
        return {"not_measured": why} if why else None
    return {"value": rounded(figure["median"]), "ratio": rounded(figure["median"] / floor) if kind == "ratio" else None,
            **{key: figure[key] for key in ("count", "page_tables") if key in figure}}


def build_php_entries(own, peer_figures, missing):
    entries = []
    absent = []
    for name, budget, kind, go_name in PHP_FIGURES:
        if name not in own:
            absent.append(name)
            continue
        figure = own[name]
        floor = {"ratio": own["floor"], "go": peer_figures["go"].get(go_name, {})}.get(kind, {}).get("median")
        ratio = figure["median"] / floor if floor else None
        measured = ratio if kind in ("ratio", "go") else figure["median"]
        is_met = None
        if budget is not None and measured is not None:
            is_met = measured >= budget if kind == "least" else measured <= budget
        entry = {
            "name": name,
            "value": rounded(figure["median"]),
            "unit": figure["unit"],
            "ratio": rounded(ratio),
            "floor": rounded(floor),
            "budget": budget,
            "verdict": None,
            "rounds": figure["rounds"],
            "spread": figure.get("spread"),
        }
        if "page_tables" in figure:
            entry.update(count=figure["count"], page_tables=rounded(figure["page_tables"]), page_tables_budget=PHP_PAGE_TABLES)
            is_met = is_met and figure["page_tables"] <= PHP_PAGE_TABLES
        if is_met is not None:
            entry["verdict"] = "ok" if is_met else "MISSED"
        peers = {peer: php_peer(peer_figures[peer].get(go_name if peer == "go" else name), kind, floor, missing.get(peer))
                 for peer in SUITE_PEERS["php"] if name != "floor"}
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
    peer_figures = {peer: read_lines(arguments.raw / f"{peer}.jsonl") for peer in SUITE_PEERS[arguments.suite]}
    for peer, figures in peer_figures.items():
        if not figures:
            missing.setdefault(peer, "it printed nothing")
    if arguments.suite != "net" and "floor" not in own:
        print("bench/report.py: the floor was not measured", file=sys.stderr)
        return 3

    if arguments.suite == "net":
        entries, absent = build_net_entries(own, peer_figures, missing)
    elif arguments.suite == "php":
        entries, absent = build_php_entries(own, peer_figures, missing)
    else:
        entries, absent = build_entries(own, shared, peer_figures, missing)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(entries, indent=2) + "\n")
    print_table(entries, missing, NOTES[arguments.suite], SUITE_PEERS[arguments.suite])
    if absent:
        print(f"bench/report.py: not measured: {', '.join(absent)}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
