#pragma once

/// @file trueasync/api/file.hpp
/// Files and pipes that read like blocking ones.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <trueasync/api/await.hpp>
#include <trueasync/reactor/descriptor_io.hpp>
#include <trueasync/reactor/io.hpp>

namespace trueasync {

/// How a file is opened; a set.
enum class OpenMode : std::uint8_t {
    Read = 1,
    Write = 2,
    ReadWrite = 3,
    Create = 4,     ///< made if it is not there
    Truncate = 8,   ///< emptied
    Append = 16,    ///< every write goes to the end
    Exclusive = 32  ///< with `Create`: EEXIST if it is there
};

constexpr OpenMode operator|(OpenMode a, OpenMode b) noexcept {
    return static_cast<OpenMode>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool has(OpenMode set, OpenMode what) noexcept {
    return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(what)) == static_cast<std::uint8_t>(what);
}

/// An open file. What may block is done by the threads of `WorkLane::file`, while the other coroutines run.
///
/// Every call that says so may suspend, takes a limit and throws: `IoError` with the errno and what was attempted ("open /no/such:
/// ENOENT (…)"), `TimeoutError`, `Cancellation`, `AsyncError` outside `run`, or with `QueueFull` when too much waits for a thread.
/// Thread rule: the thread of its runtime.
/// Lifetime: closed by the destructor, at the latest with its runtime. Any number of coroutines may use it; calls without an offset
/// are done one after the other.
/// Cancel safety: the caller leaves at once. What a thread has begun it ends with a buffer of its own: a read that is cancelled has
/// not moved the position; a write that is cancelled may or may not be done, wholly or in part.
///
/// @snippet unit/api/file_test.cpp  file
class TA_API File {
public:
    File() noexcept = default;
    File(File&& other) noexcept = default;
    File& operator=(File&& other) noexcept;
    ~File() { close(); }

    /// May suspend. `permissions` are for a file that is made; the process's mask is taken off them.
    static File open(
        std::string path,
        OpenMode mode = OpenMode::Read,
        const Limit& limit = {},
        unsigned permissions = 0666,
        std::source_location where = std::source_location::current()
    );

    /// At least one byte and at most `buffer.size()`, from the position, which moves; zero at the end. May suspend.
    std::size_t read(
        std::span<std::byte> buffer,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );
    std::size_t read(
        std::span<char> buffer, const Limit& limit = {}, std::source_location where = std::source_location::current()
    ) {
        return read(std::as_writable_bytes(buffer), limit, where);
    }

    /// The same from `offset`; the position is not used and does not move. May suspend.
    std::size_t read_at(
        std::uint64_t offset,
        std::span<std::byte> buffer,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );
    std::size_t read_at(
        std::uint64_t offset,
        std::span<char> buffer,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    ) {
        return read_at(offset, std::as_writable_bytes(buffer), limit, where);
    }

    /// Everything from the position to the end. `IoError` with EMSGSIZE when that is more than `most`. May suspend.
    std::string read_all(
        std::size_t most = SIZE_MAX,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );

    /// All of it, at the position, which moves; with `OpenMode::Append` at the end. May suspend.
    void write(
        std::string_view data, const Limit& limit = {}, std::source_location where = std::source_location::current()
    );
    void write(
        std::span<const std::byte> data,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    ) {
        write(std::string_view(reinterpret_cast<const char*>(data.data()), data.size()), limit, where);
    }
    /// All of it, at `offset`. With `OpenMode::Append` at the end all the same. May suspend.
    void write_at(
        std::uint64_t offset,
        std::string_view data,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );
    /// All of it, at the end the file has when it is done; not to be mixed with others who append. May suspend.
    void append(
        std::string_view data, const Limit& limit = {}, std::source_location where = std::source_location::current()
    );

    /// May suspend.
    std::uint64_t size(const Limit& limit = {}, std::source_location where = std::source_location::current());
    /// What was written is on the disk. May suspend.
    void sync(const Limit& limit = {}, std::source_location where = std::source_location::current());
    /// Cuts or fills with zeroes. The position stays. May suspend.
    void truncate(
        std::uint64_t size, const Limit& limit = {}, std::source_location where = std::source_location::current()
    );

    std::uint64_t position() const noexcept { return io_ != nullptr ? io_->position() : 0; }
    void seek(std::uint64_t position) noexcept {
        if (io_ != nullptr) {
            io_->seek(position);
        }
    }

    /// Calls under way end with ECANCELED. Closing twice does nothing. Never suspends.
    void close() noexcept;
    bool is_open() const noexcept { return io_ != nullptr && io_->descriptor() >= 0; }
    int descriptor() const noexcept { return io_ != nullptr ? io_->descriptor() : -1; }
    const std::string& path() const noexcept { return path_; }

private:
    IoEvent& need(const char* verb) const;
    void finish(IoRequest& request, const char* verb, const Limit& limit, std::source_location where) const;
    template <typename F>
    std::uint64_t call(const char* verb, F&& function, const Limit& limit, std::source_location where) const;

    Ref<IoEvent> io_;
    std::string path_;
};

/// One end of a pipe. Calls may suspend only their coroutine, take a limit and throw as those of `Stream` do.
///
/// Thread rule: the thread of its runtime.
/// Lifetime: closed by the destructor; closing ends calls under way with EBADF.
class TA_API PipeEnd {
public:
    PipeEnd() noexcept = default;
    PipeEnd(PipeEnd&& other) noexcept;
    PipeEnd& operator=(PipeEnd&& other) noexcept;
    ~PipeEnd() { close(); }

    void close() noexcept;
    bool is_open() const noexcept { return static_cast<bool>(descriptor_); }
    int descriptor() const noexcept { return descriptor_.get(); }
    /// The caller closes it.
    int release() noexcept { return descriptor_.release(); }

protected:
    explicit PipeEnd(OwnedDescriptor descriptor) noexcept : descriptor_(std::move(descriptor)) {}
    /// Of this process's standard input or output.
    PipeEnd(int number, bool is_output);
    std::string name() const;

    OwnedDescriptor descriptor_;

private:
    bool is_blocking_else_ = false;  // shared with others, who want it blocking: to be made so again
};

/// Cancel safety: a read that is cancelled has taken nothing.
class TA_API PipeReader : public PipeEnd {
public:
    PipeReader() noexcept = default;
    /// Takes over a non-blocking descriptor.
    explicit PipeReader(OwnedDescriptor descriptor) noexcept : PipeEnd(std::move(descriptor)) {}
    /// A terminal, a pipe or a file. Standard input itself stays open and as it is.
    static PipeReader standard_input() { return PipeReader(0, false); }

    /// At least one byte and at most `buffer.size()`; zero at the end. May suspend.
    std::size_t read(
        std::span<std::byte> buffer,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );
    std::size_t read(
        std::span<char> buffer, const Limit& limit = {}, std::source_location where = std::source_location::current()
    ) {
        return read(std::as_writable_bytes(buffer), limit, where);
    }
    /// Everything until the end. `IoError` with EMSGSIZE when that is more than `most`. May suspend.
    std::string read_all(
        std::size_t most = SIZE_MAX,
        const Limit& limit = {},
        std::source_location where = std::source_location::current()
    );

private:
    using PipeEnd::PipeEnd;
};

/// Cancel safety: after a write that was cancelled nobody knows how much was written.
class TA_API PipeWriter : public PipeEnd {
public:
    PipeWriter() noexcept = default;
    /// Takes over a non-blocking descriptor.
    explicit PipeWriter(OwnedDescriptor descriptor) noexcept : PipeEnd(std::move(descriptor)) {}
    static PipeWriter standard_output() { return PipeWriter(1, true); }
    static PipeWriter standard_error() { return PipeWriter(2, true); }

    /// All of it. EPIPE, and no signal, when the reader has gone. May suspend.
    void write(
        std::string_view data, const Limit& limit = {}, std::source_location where = std::source_location::current()
    );

private:
    using PipeEnd::PipeEnd;
};

/// A pipe within the process, or for a child.
///
/// @snippet unit/api/file_test.cpp  pipe
struct Pipe {
    PipeReader reader;
    PipeWriter writer;

    /// Never suspends. Throws `IoError`.
    TA_API static Pipe make();
};

}  // namespace trueasync
