#include <trueasync/reactor/exec.hpp>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <trueasync/reactor/system_error.hpp>
#include <utility>

#include "fork_generation.hpp"
#include "quiet_write.hpp"

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Exec, sizeof(ExecEvent));

constexpr std::size_t kBuffer = 64 * 1024;
constexpr int kReadsATurn = 16;  // the others in the loop want their turn

std::string_view trimmed(std::string_view line) noexcept {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) {
        line.remove_suffix(1);
    }
    return line;
}

/// To our standard output, whatever state it is in.
void print(std::string_view bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t count = detail::quiet_write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (count > 0) {
            bytes.remove_prefix(static_cast<std::size_t>(count));
        } else if (count < 0 && errno == EAGAIN) {
            pollfd room{STDOUT_FILENO, POLLOUT, 0};
            ::poll(&room, 1, -1);
        } else if (count == 0 || errno != EINTR) {
            return;
        }
    }
}

}  // namespace

std::string_view to_string(ExecMode mode) noexcept {
    switch (mode) {
        case ExecMode::Exec:
            return "exec";
        case ExecMode::System:
            return "system";
        case ExecMode::Passthru:
            return "passthru";
        case ExecMode::ShellExec:
            break;
    }
    return "shell_exec";
}

/// Our end of a pipe.
class ExecEvent::Channel final : public DescriptorWatch {
public:
    using Handler = void (ExecEvent::*)(Channel&) noexcept;

    Channel(ExecEvent& event, IoReactor& io, int fd, PollMask wanted, Handler handler) noexcept
        : DescriptorWatch(fd, wanted), event_(event), io_(io), handler_(handler) {
        io_.descriptor_opened(fd);
        io_.introduce(*this);
    }
    ~Channel() override {
        if (!is_lost_) {
            io_.unwatch(*this);
            io_.descriptor_closing(fd());
            ::close(fd());
        }
    }

    int fd() const noexcept { return watched_descriptor(); }
    void on_ready(PollMask /*what*/) noexcept override { (event_.*handler_)(*this); }
    void on_lost(Error& /*error*/) noexcept override {
        is_lost_ = true;  // whoever closed it has closed it
        event_.drop(*this);
    }

private:
    ExecEvent& event_;
    IoReactor& io_;
    Handler handler_;
    bool is_lost_ = false;
};

/// Hears of the end of the process. Counted: that end may be the end of the event too.
class ExecEvent::Listener final : public Callback {
public:
    explicit Listener(ExecEvent& event) noexcept : event_(event) {}
    void call(Event& /*event*/, void* /*result*/, Error* error) override {
        if (error != nullptr && event_.error_ == nullptr) {
            event_.error_ = Ref<Error>(error);
        }
        event_.finish();
    }

private:
    ExecEvent& event_;
};

ExecEvent::ExecEvent(Reactor& reactor, ExecOptions options) noexcept
    : ReactorEvent(reactor, EventType::Exec, Firing::OneShot), options_(std::move(options)) {}

ExecEvent::~ExecEvent() = default;

Ref<ExecEvent> ExecEvent::create(Reactor& reactor, ExecOptions options) {
    return Ref<ExecEvent>::adopt(new ExecEvent(reactor, std::move(options)));
}

Status ExecEvent::enter_loop() {
    IoReactor* io = nullptr;
    if (Status status = find_io(io); !status) {
        return status;
    }
    if (is_of_parent()) {
        return Status(lost_by_fork());
    }
    Status status = process_ == nullptr ? launch(*io) : Status();
    if (status.ok()) {
        status = watch_all(*io);
        if (!status) {
            leave_loop();
            give_up();
        }
    }
    return status;
}

Status ExecEvent::launch(IoReactor& io) {
    ProcessOptions options;
    options.argv = {"/bin/sh", "-c", options_.command};
    options.environment = options_.environment;
    options.working_directory = options_.working_directory;
    options.in = options_.input.has_value() ? Stdio::pipe() : options_.in;
    options.err = options_.err;
    const bool has_output = options_.mode != ExecMode::Passthru || options_.sink;
    options.out = has_output ? Stdio::pipe() : Stdio::inherit();
    if (options.in.kind() == Stdio::Kind::Pipe && !options_.input.has_value()) {
        return system_failure(
            EINVAL, std::string(to_string(options_.mode)) + " with a pipe as input and nothing to put in"
        );
    }
    // A background group may not read from the terminal.
    has_group_ = options.in.kind() != Stdio::Kind::Inherit || ::isatty(STDIN_FILENO) == 0;
    options.has_own_group = has_group_;
    SpawnedProcess spawned;
    if (Status status = spawn_process(options, spawned); !status) {
        return status;
    }
    fork_generation_ = detail::fork_generation();
    process_ = ProcessEvent::create(io, spawned.pid);
    process_->set_hidden(true);  // this event is the one that counts
    if (spawned.in >= 0) {
        in_ = std::make_unique<Channel>(*this, io, spawned.in, PollMask::Writable, &ExecEvent::on_input);
    }
    if (spawned.out >= 0) {
        out_ = std::make_unique<Channel>(*this, io, spawned.out, PollMask::Readable, &ExecEvent::on_output);
    }
    if (spawned.err >= 0) {
        err_ = std::make_unique<Channel>(*this, io, spawned.err, PollMask::Readable, &ExecEvent::on_output);
    }
    if (in_ != nullptr && options_.input->empty()) {
        in_.reset();
    }
    if (options_.timeout > Duration::zero()) {
        deadline_ = Deadline::after(options_.timeout).resolve(io.now());
    }
    return {};
}

Status ExecEvent::watch_all(IoReactor& io) {
    buffer_ = std::make_unique<char[]>(kBuffer);
    for (Channel* channel : {in_.get(), out_.get(), err_.get()}) {
        if (channel != nullptr) {
            if (Status status = io.watch(*channel); !status) {
                return status;
            }
        }
    }
    if (deadline_ != Instant::max()) {
        if (Status status = io.arm(*this, deadline_); !status) {
            return status;
        }
    }
    // The process is collected last: as long as it is a zombie its number, and that of its group, belongs to nobody else.
    if (is_collecting_ || (out_ == nullptr && err_ == nullptr)) {
        is_collecting_ = true;
        if (listener_ == nullptr) {
            listener_ = Ref<Listener>::adopt(new Listener(*this));
        }
        if (Status status = process_->add_callback(*listener_); !status) {
            return status;
        }
        return process_->start();
    }
    return {};
}

void ExecEvent::leave_loop() noexcept {
    if (is_armed()) {
        reactor()->disarm(*this);
    }
    for (Channel* channel : {in_.get(), out_.get(), err_.get()}) {
        if (channel != nullptr && channel->is_watching()) {
            reactor()->io()->unwatch(*channel);
        }
    }
    if (process_ != nullptr && listener_ != nullptr && !process_->is_closed()) {
        process_->del_callback(*listener_);
        if (process_->is_in_loop()) {
            process_->stop().ignore();
        }
    }
    buffer_.reset();
}

// --- the pipes

void ExecEvent::on_input(Channel& channel) noexcept {
    const std::string& input = *options_.input;
    while (written_ < input.size()) {
        const ssize_t count = detail::quiet_write(channel.fd(), input.data() + written_, input.size() - written_);
        if (count < 0 && errno == EAGAIN) {
            return;
        }
        if (count < 0 && errno != EINTR) {
            break;  // the command does not want more: its own affair
        }
        written_ += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    in_.reset();
}

void ExecEvent::on_output(Channel& channel) noexcept {
    const Ref<ExecEvent> keep(this);  // a sink may drop the event
    std::unique_ptr<Channel>& owner = &channel == out_.get() ? out_ : err_;
    for (int i = 0; i < kReadsATurn; ++i) {
        const ssize_t count = ::read(channel.fd(), buffer_.get(), kBuffer);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (count <= 0) {
            drop(channel);
            return;
        }
        const std::string_view bytes(buffer_.get(), static_cast<std::size_t>(count));
        if (&owner == &err_) {
            result_.errors += bytes;
            continue;
        }
        take_output(bytes);
        if (!is_in_loop() || owner == nullptr) {
            return;  // the sink has stopped it
        }
    }
}

void ExecEvent::take_output(std::string_view bytes) {
    switch (options_.mode) {
        case ExecMode::ShellExec:
            result_.output += bytes;
            return;
        case ExecMode::Exec:
            take_lines(bytes);
            return;
        case ExecMode::System:
            take_lines(bytes);
            break;
        case ExecMode::Passthru:
            break;
    }
    if (!options_.sink) {
        print(bytes);
        return;
    }
    try {
        options_.sink(bytes);
    } catch (...) {
        error_ = ExceptionError::capture();
        kill_all();
    }
}

void ExecEvent::take_lines(std::string_view bytes) {
    for (std::size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
        line_ += bytes.substr(0, end);
        end_line();
        bytes.remove_prefix(end + 1);
    }
    line_ += bytes;
}

void ExecEvent::end_line() {
    result_.last_line = trimmed(line_);
    line_.clear();
    if (options_.mode == ExecMode::Exec) {
        result_.lines.push_back(result_.last_line);
    }
}

// --- the end

void ExecEvent::drop(Channel& channel) noexcept {
    for (std::unique_ptr<Channel>* owner : {&in_, &out_, &err_}) {
        if (owner->get() == &channel) {
            owner->reset();
        }
    }
    advance();
}

/// A pipe has ended.
void ExecEvent::advance() noexcept {
    if (out_ == nullptr && err_ == nullptr && !is_collecting_ && is_in_loop()) {
        if (Status status = watch_all(*reactor()->io()); !status) {
            error_ = status.take();
            kill_all();
            finish();
        }
    }
}

void ExecEvent::on_deadline() noexcept {
    const Ref<ExecEvent> keep(this);
    if (is_of_parent()) {
        finish();
        return;
    }
    result_.is_timed_out = true;
    deadline_ = Instant::max();
    const auto limit = std::chrono::ceil<std::chrono::milliseconds>(options_.timeout);
    error_ = Error::make(
        ErrorCode::Timeout, info() + " was killed after " + std::to_string(limit.count()) + " milliseconds"
    );
    kill_all();
    // Somebody who has left the group may keep the pipes open for ever: take what is there.
    if (out_ != nullptr) {
        on_output(*out_);
    }
    if (err_ != nullptr && is_in_loop()) {
        on_output(*err_);
    }
    in_.reset();
    out_.reset();
    err_.reset();
    advance();
}

bool ExecEvent::is_of_parent() const noexcept {
    return process_ != nullptr && fork_generation_ != detail::fork_generation();
}

Ref<Error> ExecEvent::lost_by_fork() const {
    return Error::make(
        ErrorCode::System, "the process forked before " + info() + " had ended; it goes on in the parent only"
    );
}

void ExecEvent::on_fork() noexcept {
    if (!is_of_parent() || is_finished_) {
        return;
    }
    in_.reset();  // what the child reads the parent would miss
    out_.reset();
    err_.reset();
    error_ = lost_by_fork();
    if (is_in_loop()) {
        reactor()->arm(*this, reactor()->now()).ignore();  // not here: the events of the loop are being gone through
    }
}

void ExecEvent::kill_all() noexcept {
    if (process_ == nullptr || process_->is_finished() || is_of_parent()) {
        return;
    }
    if (!has_group_ || ::kill(-process_->pid(), SIGKILL) != 0) {
        process_->kill(SIGKILL).ignore();
    }
}

void ExecEvent::finish() noexcept {
    const Ref<ExecEvent> keep(this);
    if (!line_.empty()) {
        end_line();
    }
    result_.exit = process_->exit();
    is_finished_ = true;
    in_.reset();
    notify(&result_, error_.get()).ignore();
}

void ExecEvent::give_up() noexcept {
    if (process_ == nullptr || is_finished_) {
        return;
    }
    is_finished_ = true;
    error_ = Error::make(ErrorCode::EventClosed, info() + " was given up");
    in_.reset();
    out_.reset();
    err_.reset();
    kill_all();
    if (listener_ != nullptr && !process_->is_closed()) {
        process_->del_callback(*listener_);
    }
    process_->abandon();
}

bool ExecEvent::replay(Callback* callback, void** result, Ref<Error>* error) {
    return is_finished_ && hand_out(&result_, error_.get(), callback, result, error);
}

std::string ExecEvent::info() const {
    return "Exec(" + std::string(to_string(options_.mode)) + ", " + options_.command + ")";
}

}  // namespace trueasync
