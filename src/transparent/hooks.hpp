#pragma once

/// What is called in place of the C library's functions: same names, same arguments, same results.

#include <dlfcn.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

namespace trueasync::hooked {

unsigned sleep(unsigned seconds);
int usleep(useconds_t microseconds);
int nanosleep(const timespec* duration, timespec* rest);
int clock_nanosleep(clockid_t clock, int flags, const timespec* when, timespec* rest);

int poll(pollfd* descriptors, nfds_t count, int timeout);

ssize_t read(int fd, void* buffer, size_t size);
ssize_t write(int fd, const void* data, size_t size);
ssize_t recv(int fd, void* buffer, size_t size, int flags);
ssize_t send(int fd, const void* data, size_t size, int flags);

int connect(int fd, const sockaddr* address, socklen_t size);
int accept(int fd, sockaddr* address, socklen_t* size);
int accept4(int fd, sockaddr* address, socklen_t* size, int flags);

int close(int fd);
int dup2(int from, int to);
int dup3(int from, int to, int flags);

/// A child that shares our memory until it becomes another program would take its parent's descriptors for its own.
pid_t vfork();

void* dlopen(const char* file, int mode);

}  // namespace trueasync::hooked
