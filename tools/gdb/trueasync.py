"""gdb commands for programs that run on TrueAsync.

    (gdb) source tools/gdb/trueasync.py
    (gdb) trueasync coroutines      every unfinished coroutine of the selected thread
    (gdb) trueasync bt 3            where coroutine 3 is suspended (or: all)
    (gdb) trueasync select 3        look at coroutine 3: bt, up, down, info locals
    (gdb) trueasync select          back to what really runs
    (gdb) trueasync stacks          the stacks of the selected thread

Nothing is written to the program: a suspended coroutine is shown by an unwinder that puts its saved registers below the
running frame. That works on a live process and on a core file alike.
"""

import contextlib
import re

import gdb
from gdb.unwinder import Unwinder, register_unwinder

# The registers that a switch saves, by the names of `detail::Registers` and of gdb; the stack pointer comes first.
SAVED_REGISTERS = {
    "i386:x86-64": (("sp", "rsp"), ("bp", "rbp"), ("ip", "rip")),
    "aarch64": (("sp", "sp"), ("fp", "x29"), ("pc", "pc")),
}
UNSTARTED = 1  # Coroutine::kUnstarted
UNLISTED = 64  # Coroutine::kUnlisted
HAS_RARE = 4  # Coroutine::kHasRare
READY = ("Queued", "Ignored")  # WakerState
SWITCH = re.compile(r"trueasync::(detail::switch_registers|ExecutionContext::switch_to)\b")
STACK_END = re.compile(r"^#\d+ +(0x0+ in )?\?\? \(\)$")
RTTI_WARNING = re.compile(r"warning: RTTI symbol not found for class '.*'\n")


def output_of(command):
    """What a gdb command prints, without warnings about lambdas whose classes gdb cannot name."""
    return RTTI_WARNING.sub("", gdb.execute(command, to_string=True)).rstrip("\n")



@contextlib.contextmanager
def in_cpp():
    """Names are read as C++ also when the program has stopped in a C function."""
    before = gdb.parameter("language")
    gdb.execute("set language c++", to_string=True)
    try:
        yield
    finally:
        gdb.execute("set language %s" % before, to_string=True)


def find_type(name):
    try:
        return gdb.lookup_type(name)
    except gdb.error:
        raise gdb.GdbError("there is no type %s: the program lacks debug information for TrueAsync" % name)


def text_of(string):
    """A std::string as text."""
    return string["_M_dataplus"]["_M_p"].string("utf-8", "replace", int(string["_M_string_length"]))


def place_of(location):
    """A std::source_location as `file:line (function)`."""
    impl = location["_M_impl"]
    if int(impl) == 0 or int(impl["_M_line"]) == 0:
        return "unknown"
    place = "%s:%d" % (impl["_M_file_name"].string(), int(impl["_M_line"]))
    function = impl["_M_function_name"].string()
    return "%s (%s)" % (place, function) if function else place


def hot():
    """The thread's hot state, or an error that says what is missing."""
    try:
        state = gdb.parse_and_eval("trueasync::detail::hot")
        state.fetch_lazy()
    except gdb.error as error:
        raise gdb.GdbError("cannot read trueasync::detail::hot: %s" % error)
    if int(state["scheduler"]) == 0:
        raise gdb.GdbError("no runtime on this thread; `thread apply all trueasync coroutines` asks the others")
    return state


def member_of(type, name):
    """A member of a class, of an unnamed union in it or of one of its bases, and how far from the start it lies."""
    for field in type.fields():
        if not hasattr(field, "bitpos"):
            continue
        if field.name == name:
            return field, field.bitpos // 8
        if field.is_base_class or not field.name:
            found, offset = member_of(field.type, name)
            if found is not None:
                return found, field.bitpos // 8 + offset
    return None, 0


class Coroutine:
    def __init__(self, address, is_running):
        self.address = address
        self.is_running = is_running
        self.id = int(self["id_"])

    def __getitem__(self, name):
        """A member, read at its own address: to follow a pointer to the whole would make gdb ask for its real class."""
        member, offset = member_of(find_type("trueasync::Coroutine"), name)
        return gdb.Value(self.address + offset).cast(member.type.pointer()).dereference()

    @property
    def is_started(self):
        return int(self["attention_"]) & UNSTARTED == 0

    @property
    def is_listed(self):
        return int(self["attention_"]) & UNLISTED == 0

    @property
    def state(self):
        if self.is_running:
            return "running"
        if not self.is_started:
            return "not started"
        return "ready" if str(self["waker_state_"]).split("::")[-1] in READY else "waiting"

    @property
    def title(self):
        name = text_of(self["rare_"]["name"]) if int(self["extras_"]) & HAS_RARE else ""
        return "Coroutine %d%s (%s)" % (self.id, " '%s'" % name if name else "", self.state)

    def describe(self):
        return "%s\n  spawn: %s\n  suspend: %s" % (
            self.title,
            place_of(self["spawned_at_"]),
            place_of(self["suspended_at_"]) if self.is_listed else "unknown",
        )

    def registers(self):
        return self["context_"]["registers_"]


def coroutines():
    """All unfinished coroutines of the selected thread, in the order of their spawns."""
    return sorted((*listed(), *unlisted()), key=lambda coroutine: coroutine.id)


def unlisted():
    """Those that have never stopped: they wait in the queue for their first turn, or run."""
    state = hot()
    tail = int(state["queue"]["tail_"])
    address = int(state["queue"]["head_"])
    queued = []
    while address != 0:
        queued.append(Coroutine(address, False))
        address = int(queued[-1]["next_"]) if address != tail else 0
    running = Coroutine(int(state["current"]), True)
    return [coroutine for coroutine in (*queued, running) if not coroutine.is_listed]


def listed():
    state = hot()
    bases = (field for field in find_type("trueasync::Coroutine").fields() if field.is_base_class)
    offset = next(base.bitpos // 8 for base in bases if "AliveTag" in base.name)
    root = state["scheduler"]["alive_"]["root_"]
    node = root["list_next"]
    while int(node) != int(root.address):
        address = int(node) - offset
        yield Coroutine(address, address == int(state["current"]))
        node = node["list_next"]


def find_coroutine(text):
    if not text.isdigit():
        raise gdb.GdbError("a coroutine is named by its number; `trueasync coroutines` lists them")
    for coroutine in coroutines():
        if coroutine.id == int(text):
            return coroutine
    raise gdb.GdbError("there is no unfinished coroutine %s on this thread" % text)


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class CoroutineUnwinder(Unwinder):
    """While a coroutine is chosen, the frame above the running one is the one in which that coroutine is suspended."""

    def __init__(self):
        super().__init__("TrueAsync")
        self.enabled = False
        self.registers = None
        self.thread = None

    def choose(self, coroutine):
        architecture = gdb.newest_frame().architecture().name()
        names = SAVED_REGISTERS.get(architecture)
        values = coroutine.registers()
        if names is None or not any(field.name == "sp" for field in values.type.fields()):
            raise gdb.GdbError("suspended coroutines cannot be shown: own switch on x86-64 and aarch64 only")
        word = find_type("unsigned long")
        self.registers = [(name, values[field].cast(word)) for field, name in names]
        self.thread = gdb.selected_thread().ptid
        self.enabled = True
        gdb.invalidate_cached_frames()

    def forget(self):
        self.enabled = False
        gdb.invalidate_cached_frames()

    def __call__(self, pending_frame):
        if pending_frame.level() != 0 or gdb.selected_thread().ptid != self.thread:
            return None
        # As if called from the coroutine's stack, so that gdb does not take the change of stacks for damage.
        sp = self.registers[0][1]
        info = pending_frame.create_unwind_info(FrameId(sp - 64, pending_frame.read_register(self.registers[2][0])))
        for name, value in self.registers:
            info.add_saved_register(name, value)
        return info


unwinder = CoroutineUnwinder()
register_unwinder(None, unwinder, replace=True)


def on_continue(event):
    unwinder.enabled = False


gdb.events.cont.connect(on_continue)


class TrueAsync(gdb.Command):
    """Look at the coroutines of a TrueAsync program."""

    def __init__(self):
        super().__init__("trueasync", gdb.COMMAND_STACK, prefix=True)


class ListCoroutines(gdb.Command):
    """List every unfinished coroutine of the selected thread: number, name, state, where spawned, where suspended."""

    def __init__(self):
        super().__init__("trueasync coroutines", gdb.COMMAND_STACK)

    @in_cpp()
    def invoke(self, argument, from_tty):
        found = list(coroutines())
        print("Coroutines: %d" % len(found))
        for coroutine in found:
            print(coroutine.describe())


class Backtrace(gdb.Command):
    """Print the C++ backtrace of a coroutine.

    Usage: trueasync bt ID|all"""

    def __init__(self):
        super().__init__("trueasync bt", gdb.COMMAND_STACK)

    @in_cpp()
    def invoke(self, argument, from_tty):
        for coroutine in list(coroutines()) if argument == "all" else [find_coroutine(argument)]:
            print(coroutine.title)
            print(self.backtrace(coroutine))

    def backtrace(self, coroutine):
        if not coroutine.is_started:
            return "  it has no stack yet"
        if coroutine.is_running:
            return output_of("bt")
        selected = gdb.selected_frame().level()
        unwinder.choose(coroutine)
        try:
            text = output_of("bt")
        finally:
            unwinder.forget()
            gdb.execute("frame level %d" % selected, to_string=True)
        return self.own_frames(text)

    @staticmethod
    def own_frames(text):
        """Without the running frame, the switch itself and the end of the stack; numbered from 0."""
        lines = text.split("\n")
        start = next((i for i, line in enumerate(lines) if line.startswith("#1 ")), len(lines))
        while start < len(lines) and SWITCH.search(lines[start]):
            start += 1
        frames = lines[start:-1] if STACK_END.match(lines[-1]) else lines[start:]
        first = re.match(r"#(\d+)", frames[0]) if frames else None
        if first is None:
            return "  its stack cannot be read"
        shift = int(first[1])
        return "\n".join(re.sub(r"^#(\d+) +", lambda m: "#%-2d " % (int(m[1]) - shift), line) for line in frames)


class Select(gdb.Command):
    """Look at a suspended coroutine with gdb's own commands: bt, up, down, frame, info locals.

    Usage: trueasync select [ID]

    Frame 0 stays what really runs; the coroutine's frames begin at 1. Without ID, and when the program continues,
    everything is as before."""

    def __init__(self):
        super().__init__("trueasync select", gdb.COMMAND_STACK)

    @in_cpp()
    def invoke(self, argument, from_tty):
        coroutine = find_coroutine(argument) if argument else None
        unwinder.forget()
        if coroutine is None or coroutine.is_running:
            print(output_of("frame level 0"))
            return
        if not coroutine.is_started:
            raise gdb.GdbError("coroutine %d has not started: it has no stack yet" % coroutine.id)
        unwinder.choose(coroutine)
        print(coroutine.title)
        print(output_of("frame level %d" % self.first_frame_of_program()))

    @staticmethod
    def first_frame_of_program():
        frame = gdb.newest_frame().older()
        while frame is not None and (frame.name() or "").startswith("trueasync::"):
            frame = frame.older()
        return frame.level() if frame is not None else 1


class Stacks(gdb.Command):
    """Print how many stacks the selected thread has in use and in reserve."""

    def __init__(self):
        super().__init__("trueasync stacks", gdb.COMMAND_STACK)

    @in_cpp()
    def invoke(self, argument, from_tty):
        pool = hot()["scheduler"]["stacks_"].referenced_value()
        warm = int(pool["warm_top_"]) - int(pool["warm_bottom_"])
        touched = int(pool["touched_"])
        print("Stacks: %d live, %d idle, %d cold" % (touched - warm, warm, int(pool["total_slots_"]) - touched))
        print("  size: %d bytes, slabs: %d" % (int(pool["settings_"]["stack_size"]), int(pool["slab_count_"])))


for command in (TrueAsync, ListCoroutines, Backtrace, Select, Stacks):
    command()
