#pragma once

/// What is called in place of the C library's functions: same names, same arguments, same results.

#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <resolv.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>

#define TA_HAS_EPOLL_PWAIT2 (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 35)

namespace trueasync::hooked {

// sleep.cpp
unsigned sleep(unsigned count);
int usleep(useconds_t microseconds);
int nanosleep(const timespec* duration, timespec* rest);
int clock_nanosleep(clockid_t clock, int flags, const timespec* when, timespec* rest);

// poll.cpp
int poll(pollfd* descriptors, nfds_t count, int timeout);
int ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask);
int __poll_chk(pollfd* descriptors, nfds_t count, int timeout, size_t room);
int __ppoll_chk(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask, size_t room);
int epoll_wait(int set, epoll_event* events, int count, int timeout);
int epoll_pwait(int set, epoll_event* events, int count, int timeout, const sigset_t* mask);
int epoll_pwait2(int set, epoll_event* events, int count, const timespec* timeout, const sigset_t* mask);

// select.cpp
int select(int count, fd_set* readable, fd_set* writable, fd_set* urgent, timeval* timeout);
int pselect(
    int count, fd_set* readable, fd_set* writable, fd_set* urgent, const timespec* timeout, const sigset_t* mask
);

// stream.cpp
ssize_t read(int fd, void* buffer, size_t size);
ssize_t readv(int fd, const iovec* parts, int count);
ssize_t write(int fd, const void* data, size_t size);
ssize_t writev(int fd, const iovec* parts, int count);
ssize_t sendfile(int to, int from, off_t* offset, size_t size);
ssize_t sendfile64(int to, int from, off64_t* offset, size_t size);
ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size, unsigned flags);
ssize_t preadv2(int fd, const iovec* parts, int count, off_t offset, int flags);
ssize_t pwritev2(int fd, const iovec* parts, int count, off_t offset, int flags);
ssize_t preadv64v2(int fd, const iovec* parts, int count, off64_t offset, int flags);
ssize_t pwritev64v2(int fd, const iovec* parts, int count, off64_t offset, int flags);
ssize_t __read_chk(int fd, void* buffer, size_t size, size_t room);

// message.cpp
ssize_t recv(int fd, void* buffer, size_t size, int flags);
ssize_t recvfrom(int fd, void* buffer, size_t size, int flags, sockaddr* address, socklen_t* length);
ssize_t recvmsg(int fd, msghdr* message, int flags);
ssize_t send(int fd, const void* data, size_t size, int flags);
ssize_t sendto(int fd, const void* data, size_t size, int flags, const sockaddr* address, socklen_t length);
ssize_t sendmsg(int fd, const msghdr* message, int flags);
int recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout);
int sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags);
ssize_t __recv_chk(int fd, void* buffer, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void* buffer, size_t size, size_t room, int flags, sockaddr* address, socklen_t* length);

// attempt.cpp
int setsockopt(int fd, int level, int option, const void* value, socklen_t size);

// connection.cpp
int connect(int fd, const sockaddr* address, socklen_t size);
int accept(int fd, sockaddr* address, socklen_t* size);
int accept4(int fd, sockaddr* address, socklen_t* size, int flags);

// names.cpp
int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** result);
int getnameinfo(
    const sockaddr* address,
    socklen_t size,
    char* host,
    socklen_t host_size,
    char* service,
    socklen_t service_size,
    int flags
);
hostent* gethostbyname(const char* name);
hostent* gethostbyname2(const char* name, int family);
int gethostbyname_r(const char* name, hostent* room, char* buffer, size_t size, hostent** result, int* error);
int gethostbyname2_r(
    const char* name, int family, hostent* room, char* buffer, size_t size, hostent** result, int* error
);
hostent* gethostbyaddr(const void* address, socklen_t length, int family);
int gethostbyaddr_r(
    const void* address,
    socklen_t length,
    int family,
    hostent* room,
    char* buffer,
    size_t size,
    hostent** result,
    int* error
);

// queries.cpp
int res_query(const char* name, int kind, int type, unsigned char* answer, int size);
int res_search(const char* name, int kind, int type, unsigned char* answer, int size);
int res_nquery(res_state state, const char* name, int kind, int type, unsigned char* answer, int size);
int res_nsearch(res_state state, const char* name, int kind, int type, unsigned char* answer, int size);
int res_querydomain(const char* name, const char* domain, int kind, int type, unsigned char* answer, int size);
int res_nquerydomain(
    res_state state, const char* name, const char* domain, int kind, int type, unsigned char* answer, int size
);
int res_send(const unsigned char* question, int length, unsigned char* answer, int size);
int res_nsend(res_state state, const unsigned char* question, int length, unsigned char* answer, int size);

// process.cpp
pid_t wait(int* status);
pid_t waitpid(pid_t child, int* status, int options);
pid_t wait3(int* status, int options, rusage* usage);
pid_t wait4(pid_t child, int* status, int options, rusage* usage);
int waitid(idtype_t type, id_t id, siginfo_t* info, int options);
FILE* popen(const char* command, const char* mode);
int pclose(FILE* stream);
/// It comes from our `popen`. To the C library closing it in another way is the same as `pclose`.
bool has_child(FILE* stream) noexcept;
int system(const char* command);
/// A fork where there is a runtime.
pid_t vfork() __asm__("trueasync_hooked_vfork") __attribute__((returns_twice));

// lock.cpp
int flock(int fd, int operation);
int fcntl(int fd, int command, ...);
int fcntl64(int fd, int command, ...);
int lockf(int fd, int command, off_t size);
int lockf64(int fd, int command, off64_t size);

// mutex.cpp
int pthread_mutex_lock(pthread_mutex_t* mutex);

// ipc.cpp
int semop(int set, sembuf* operations, size_t count);
int semtimedop(int set, sembuf* operations, size_t count, const timespec* timeout);
ssize_t msgrcv(int queue, void* message, size_t size, long type, int flags);
int msgsnd(int queue, const void* message, size_t size, int flags);
int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout);
int sigwaitinfo(const sigset_t* set, siginfo_t* info);
int sigwait(const sigset_t* set, int* number);

// descriptor.cpp
int close(int fd);
int close_range(unsigned first, unsigned last, int flags);
int fclose(FILE* stream);
int dup2(int from, int to);
int dup3(int from, int to, int flags);

// signals.cpp
int sigaction(int number, const struct sigaction* action, struct sigaction* before);
sighandler_t signal(int number, sighandler_t handler);
int pause();
[[noreturn]] void longjmp(jmp_buf target, int value);
[[noreturn]] void _longjmp(jmp_buf target, int value);
[[noreturn]] void siglongjmp(sigjmp_buf target, int value);
[[noreturn]] void __longjmp_chk(sigjmp_buf target, int value);

// loading.cpp
void* dlopen(const char* file, int mode);
void* dlsym(void* handle, const char* name);
void* dlvsym(void* handle, const char* name, const char* version);

}  // namespace trueasync::hooked
