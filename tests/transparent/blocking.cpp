/// A library that knows nothing of coroutines and calls the C library as any other does.

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

extern "C" {

int blocking_usleep(unsigned microseconds) { return ::usleep(microseconds); }
ssize_t blocking_read(int fd, void* buffer, size_t size) { return ::read(fd, buffer, size); }
ssize_t blocking_write(int fd, const void* data, size_t size) { return ::write(fd, data, size); }
int blocking_poll(int fd, short events, int timeout) {
    pollfd one{fd, events, 0};
    return ::poll(&one, 1, timeout);
}
int blocking_lock(pthread_mutex_t* mutex) { return ::pthread_mutex_lock(mutex); }
int blocking_close(int fd) { return ::close(fd); }

// The loader looks at who it returns to, so these are not to be jumps.
void* blocking_dlopen(const char* file) {
    void* volatile handle = ::dlopen(file, RTLD_NOW);
    return handle;
}
void* blocking_dlsym(const char* name) {
    void* volatile found = ::dlsym(RTLD_DEFAULT, name);
    return found;
}
pid_t blocking_getppid() { return ::getppid(); }

/// A pointer in data, not in a table of calls.
unsigned (*blocking_sleep)(unsigned) = &::sleep;
}
