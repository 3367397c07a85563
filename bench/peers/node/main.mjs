// The figures of the suite "php" on Node. Usage: main.mjs [--round-ms N | --sleeps | --parked N]
import fs from 'node:fs';

const SLICES = 5; // of a round; the fastest one counts
const now = () => Number(process.hrtime.bigint());

async function yields(operations) {
    const turns = operations >> 1;
    const other = (async () => {
        for (let left = turns + 1; left > 0; --left) await undefined;
    })();
    const timed = (async () => {
        await undefined;
        const began = now();
        for (let i = 0; i < turns; ++i) await undefined;
        return now() - began;
    })();
    const ns = await timed;
    await other;
    return ns;
}

async function spawns(operations) {
    const nothing = async () => {};
    const began = now();
    for (let i = 0; i < operations; ++i) await nothing();
    return now() - began;
}

/** Unbuffered, for one sender and one receiver. */
class Channel {
    #receiver = null;
    #sender = null;
    #value = undefined;

    async send(value) {
        if (this.#receiver !== null) {
            const resolve = this.#receiver;
            this.#receiver = null;
            resolve(value);
            return;
        }
        this.#value = value;
        await new Promise((resolve) => { this.#sender = resolve; });
    }

    async recv() {
        if (this.#sender !== null) {
            const resolve = this.#sender;
            this.#sender = null;
            resolve();
            return this.#value;
        }
        return await new Promise((resolve) => { this.#receiver = resolve; });
    }
}

async function roundTrips(operations) {
    const there = new Channel();
    const back = new Channel();
    const echo = (async () => {
        for (let i = 0; i < operations; ++i) await back.send(await there.recv());
    })();
    const began = now();
    for (let i = 0; i < operations; ++i) {
        await there.send(i);
        await back.recv();
    }
    const ns = now() - began;
    await echo;
    return ns;
}

function print(name, unit, median, more = {}) {
    console.log(JSON.stringify({ name, unit, median, rounds: 1, ...more }));
}

async function calibrate(benchmark, slice) {
    for (let operations = 10000; ; operations *= 2) {
        const ns = await benchmark(operations);
        if (ns >= slice / 10) return Math.floor((operations * slice) / ns);
    }
}

async function runRound(roundMs) {
    const benchmarks = { suspend: yields, spawn_await: spawns, channel: roundTrips };
    const slice = (roundMs * 1e6) / SLICES;
    const operations = {};
    const fastest = {};
    for (const [name, benchmark] of Object.entries(benchmarks)) operations[name] = await calibrate(benchmark, slice);
    for (let i = 0; i < SLICES; ++i) {
        for (const [name, benchmark] of Object.entries(benchmarks)) {
            const ns = (await benchmark(operations[name])) / operations[name];
            fastest[name] = Math.min(ns, fastest[name] ?? Infinity);
        }
    }
    for (const name of Object.keys(benchmarks)) print(name, 'ns', fastest[name]);
}

async function measureSleeps() {
    for (const name of ['delay_100k_cold', 'delay_100k']) {
        const before = process.cpuUsage();
        const all = [];
        for (let i = 0; i < 100000; ++i) {
            all.push((async () => { await new Promise((resolve) => setTimeout(resolve, 10)); })());
        }
        await Promise.all(all);
        const used = process.cpuUsage(before);
        print(name, 'ms', (used.user + used.system) / 1e3);
    }
}

function memoryKib() {
    const status = fs.readFileSync('/proc/self/status', 'utf8');
    const line = (key) => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)[1]);
    return [line('VmRSS'), line('VmPTE')];
}

async function measureParked(count) {
    let open;
    const gate = new Promise((resolve) => { open = resolve; });
    let arrived = 0;
    const park = async () => {
        ++arrived;
        await gate;
    };
    park();
    const [resident, tables] = memoryKib();
    for (let i = 0; i < count; ++i) park();
    const [residentAfter, tablesAfter] = memoryKib();
    print('parked_kib', 'KiB', (residentAfter - resident) / count, { page_tables: (tablesAfter - tables) / count, count: arrived - 1 });
    print('parked_max', 'coroutines', arrived - 1);
    open();
    process.exit(0);
}

const [option, value] = process.argv.slice(2);
if (option === '--sleeps') await measureSleeps();
else if (option === '--parked') await measureParked(Number(value));
else await runRound(option === '--round-ms' ? Number(value) : 50);
