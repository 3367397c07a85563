#include <support/hooked.hpp>

#include <thread>

namespace trueasync::testing {
namespace {

using HookedProcess = HookedTest;

/// A child that ends with `code` when its input ends.
pid_t child_until(int input, int other_end, int code) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(other_end);
        char byte = 0;
        ::read(input, &byte, 1);
        ::_exit(code);
    }
    return child;
}

TEST_F(HookedProcess, WaitpidWaitsForOneChild) {
    in_runtime([] {
        auto [in, out] = blocking_pipe();
        const pid_t child = child_until(*in, *out, 7);
        int status = 0;
        EXPECT_EQ(hooked::waitpid(child, &status, WNOHANG), 0);
        auto closer = spawn([&] { close(out); });
        EXPECT_EQ(hooked::waitpid(child, &status, 0), child);
        EXPECT_EQ(WEXITSTATUS(status), 7);
        await(closer);
        EXPECT_EQ(hooked::waitpid(child, &status, 0), -1);
        EXPECT_EQ(errno, ECHILD);
    });
}

TEST_F(HookedProcess, WaitAndWaitid) {
    in_runtime([] {
        auto [in, out] = blocking_pipe();
        const pid_t child = child_until(*in, *out, 3);
        auto closer = spawn([&] { close(out); });
        siginfo_t info{};
        EXPECT_EQ(hooked::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
        EXPECT_EQ(info.si_pid, child);
        EXPECT_EQ(info.si_status, 3);
        int status = 0;
        EXPECT_EQ(hooked::wait(&status), child);
        EXPECT_EQ(WEXITSTATUS(status), 3);
        await(closer);
    });
}

TEST_F(HookedProcess, Wait3AndWait4TellWhatTheChildUsed) {
    in_runtime([] {
        for (const bool is_any : {true, false}) {
            auto [in, out] = blocking_pipe();
            const pid_t child = child_until(*in, *out, 4);
            auto closer = spawn([&] { close(out); });
            int status = 0;
            rusage usage{};
            usage.ru_maxrss = -1;
            const pid_t ended = suspending([&] {
                return is_any ? hooked::wait3(&status, 0, &usage) : hooked::wait4(child, &status, 0, &usage);
            });
            EXPECT_EQ(ended, child);
            EXPECT_EQ(WEXITSTATUS(status), 4);
            EXPECT_GE(usage.ru_maxrss, 0);
            await(closer);
        }
        int status = 0;
        EXPECT_EQ(hooked::wait3(&status, WNOHANG, nullptr), -1);
        EXPECT_EQ(errno, ECHILD);
    });
}

TEST_F(HookedProcess, PopenAndPclose) {
    in_runtime([] {
        FILE* stream = hooked::popen("read line; echo $line; exit 5", "w");
        ASSERT_NE(stream, nullptr);
        FILE* reader = hooked::popen("echo hello", "r");
        ASSERT_NE(reader, nullptr);
        char line[16] = {};
        EXPECT_EQ(hooked::read(::fileno(reader), line, sizeof(line)), 6);
        EXPECT_EQ(hooked::pclose(reader), 0);
        EXPECT_EQ(WEXITSTATUS(suspending([&] { return hooked::pclose(stream); })), 5);
        EXPECT_EQ(hooked::popen("true", "x"), nullptr);
        EXPECT_EQ(errno, EINVAL);
    });
}

TEST_F(HookedProcess, System) {
    in_runtime([] { EXPECT_EQ(WEXITSTATUS(suspending([] { return hooked::system("exit 9"); })), 9); });
}

TEST_F(HookedProcess, WaitidNeedsNobodyWhoWantsToKnow) {
    in_runtime([] {
        auto [in, out] = blocking_pipe();
        const pid_t child = child_until(*in, *out, 3);
        auto closer = spawn([&] { close(out); });
        EXPECT_EQ(suspending([&] { return hooked::waitid(P_PID, static_cast<id_t>(child), nullptr, WEXITED); }), 0);
        EXPECT_EQ(hooked::waitid(P_PID, static_cast<id_t>(child), nullptr, WEXITED), -1);
        EXPECT_EQ(errno, ECHILD);
        await(closer);
    });
}

TEST_F(HookedProcess, AStreamOfTheLibrarysOwnPopen) {
    in_runtime([] {
        FILE* stream = ::popen("read line; exit 6", "w");
        ASSERT_NE(stream, nullptr);
        EXPECT_EQ(WEXITSTATUS(suspending([&] { return hooked::pclose(stream); })), 6);

        FILE* reader = ::popen("echo hello", "r");
        ASSERT_NE(reader, nullptr);
        const int fd = ::fileno(reader);
        char line[16] = {};
        EXPECT_EQ(hooked::read(fd, line, sizeof(line)), 6);
        pollfd one{fd, POLLIN, 0};
        EXPECT_EQ(hooked::poll(&one, 1, -1), 1);
        EXPECT_EQ(hooked::pclose(reader), 0);
        auto [in, out] = blocking_pair();
        ASSERT_EQ(::dup2(*in, fd), fd);
        auto writer = spawn([to = *out] { EXPECT_EQ(hooked::write(to, "x", 1), 1); });
        EXPECT_EQ(hooked::read(fd, line, sizeof(line)), 1);  // of what the number stands for now
        await(writer);
        hooked::close(fd);
    });
}

TEST_F(HookedProcess, WhoIsCancelledLeavesAStreamOfTheLibrarysOwnPopen) {
    in_runtime([] {
        auto [in, out] = blocking_pipe();
        ASSERT_EQ(::fcntl(*out, F_SETFD, FD_CLOEXEC), 0);
        const std::string input = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(*in);
        FILE* stream = ::popen(("cat " + input).c_str(), "r");
        ASSERT_NE(stream, nullptr);
        auto closer = spawn([&] {
            EXPECT_EQ(hooked::pclose(stream), -1);
            EXPECT_EQ(errno, ECANCELED);
        });
        suspend();
        suspend();
        closer.cancel();
        EXPECT_THROW(await(closer), Cancellation);
        close(out);
        while (::waitid(P_ALL, 0, nullptr, WEXITED | WNOWAIT | WNOHANG) == 0) {  // until the thread has collected it
            hooked::usleep(1000);
        }
    });
}

TEST_F(HookedProcess, FcloseOfAPopenStreamCollectsTheChild) {
    in_runtime([] {
        FILE* stream = hooked::popen("read line; exit 3", "w");
        ASSERT_NE(stream, nullptr);
        EXPECT_EQ(WEXITSTATUS(suspending([&] { return hooked::fclose(stream); })), 3);
        EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
        EXPECT_EQ(errno, ECHILD);
        FILE* other = hooked::popen("true", "r");  // looks at the streams that are open
        ASSERT_NE(other, nullptr);
        EXPECT_EQ(hooked::pclose(other), 0);
    });
}

int interrupts = 0;

TEST_F(HookedProcess, SystemKeepsTheSignalsOfTheTerminalAndItsChild) {
    in_runtime([] {
        struct sigaction action {};
        struct sigaction interrupt {};
        struct sigaction child {};
        action.sa_handler = [](int) { ++interrupts; };
        ASSERT_EQ(hooked::sigaction(SIGINT, &action, &interrupt), 0);
        action.sa_handler = [](int) {
            while (::waitpid(-1, nullptr, WNOHANG) > 0) {}
        };
        ASSERT_EQ(hooked::sigaction(SIGCHLD, &action, &child), 0);
        EXPECT_EQ(WEXITSTATUS(hooked::system("kill -INT $PPID; exit 3")), 3);
        EXPECT_EQ(interrupts, 0);
        EXPECT_EQ(WTERMSIG(hooked::system("kill -INT $$; exit 3")), SIGINT);  // to which it is a signal like any other
        ::raise(SIGINT);
        EXPECT_EQ(interrupts, 1);
        sigset_t blocked;
        ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &blocked), 0);
        EXPECT_EQ(::sigismember(&blocked, SIGCHLD), 0);
        hooked::sigaction(SIGINT, &interrupt, nullptr);
        hooked::sigaction(SIGCHLD, &child, nullptr);
    });
}

TEST_F(HookedProcess, VforkSharesMemoryWhereThereIsNoRuntime) {
    static volatile int seen = 0;
    const auto child_sets = [] {
        const pid_t child = hooked::vfork();
        if (child == 0) {
            seen = 7;
            ::_exit(5);
        }
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(WEXITSTATUS(status), 5);
    };
    seen = 0;
    std::thread(child_sets).join();
    EXPECT_EQ(seen, 7);
    seen = 0;
    in_runtime(child_sets);
    EXPECT_EQ(seen, 0);
}

// --- locks

TEST_F(HookedProcess, LocksAreWaitedFor) {
    in_runtime([] {
        char name[] = "/tmp/trueasync-lock-XXXXXX";
        Fd first(::mkstemp(name));
        Fd second(::open(name, O_RDWR));
        ASSERT_EQ(::flock(*first, LOCK_EX), 0);
        auto holder = spawn([&] { ::flock(*first, LOCK_UN); });
        EXPECT_EQ(hooked::flock(*second, LOCK_EX | LOCK_NB), -1);
        EXPECT_EQ(errno, EWOULDBLOCK);
        EXPECT_EQ(hooked::flock(*second, LOCK_EX), 0);
        await(holder);

        struct flock whole {};
        whole.l_type = F_WRLCK;
        ASSERT_EQ(::fcntl(*first, F_OFD_SETLK, &whole), 0);
        auto other = spawn([&] {
            struct flock none {};
            none.l_type = F_UNLCK;
            ::fcntl(*first, F_OFD_SETLK, &none);
        });
        EXPECT_EQ(hooked::fcntl(*second, F_OFD_SETLKW, &whole), 0);
        EXPECT_EQ(hooked::fcntl(*second, F_GETFD), 0);
        EXPECT_EQ(hooked::lockf(*first, F_TEST, 0), -1);
        await(other);
        ::unlink(name);
        close(first);
        close(second);
    });
}

// --- names

TEST_F(HookedProcess, NamesAreLookedUpWhileOthersRun) {
    in_runtime([] {
        addrinfo* found = nullptr;
        for (const char* host : {"localhost", "127.0.0.1"}) {
            EXPECT_EQ(suspending([&] { return hooked::getaddrinfo(host, "80", nullptr, &found); }), 0);
            ASSERT_NE(found, nullptr);
            ::freeaddrinfo(found);
        }
        EXPECT_NE(suspending([&] { return hooked::getaddrinfo("no.such.host.invalid", nullptr, nullptr, &found); }), 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        char host[256] = {};
        EXPECT_EQ(
            suspending([&] {
                return hooked::getnameinfo(
                    reinterpret_cast<sockaddr*>(&address), sizeof(address), host, sizeof(host), nullptr, 0, 0
                );
            }),
            0
        );
        EXPECT_STREQ(host, "localhost");
        const hostent* old = suspending([] { return hooked::gethostbyname("localhost"); });
        ASSERT_NE(old, nullptr);
        EXPECT_EQ(old->h_addrtype, AF_INET);
        EXPECT_EQ(*reinterpret_cast<in_addr_t*>(old->h_addr_list[0]), htonl(INADDR_LOOPBACK));
        char small[8];
        hostent room{};
        hostent* result = nullptr;
        int error = 0;
        EXPECT_EQ(hooked::gethostbyname_r("localhost", &room, small, sizeof(small), &result, &error), ERANGE);
        char buffer[1024];
        EXPECT_EQ(
            hooked::gethostbyaddr_r(
                &address.sin_addr, sizeof(address.sin_addr), AF_INET, &room, buffer, sizeof(buffer), &result, &error
            ),
            0
        );
        ASSERT_EQ(result, &room);
        EXPECT_STREQ(result->h_name, "localhost");
    });
}

std::string describe(int code, addrinfo*& found) {
    std::string text = std::to_string(code);
    for (const addrinfo* one = code == 0 ? found : nullptr; one != nullptr; one = one->ai_next) {
        for (const int number : {one->ai_flags, one->ai_family, one->ai_socktype, one->ai_protocol}) {
            text += " " + std::to_string(number);
        }
        text += " " + std::string(reinterpret_cast<const char*>(one->ai_addr), one->ai_addrlen) + " ";
        text += one->ai_canonname != nullptr ? one->ai_canonname : "-";
    }
    if (code == 0) {
        ::freeaddrinfo(found);
    }
    return text;
}

TEST_F(HookedProcess, AnswersAboutNumbersAreThoseOfTheOriginal) {
    in_runtime([] {
        constexpr int kFlags[] = {
            0,
            AI_PASSIVE,
            AI_CANONNAME,
            AI_NUMERICHOST,
            AI_NUMERICSERV,
            AI_ADDRCONFIG,
            AI_V4MAPPED,
            AI_V4MAPPED | AI_ALL | AI_CANONNAME,
            AI_PASSIVE | AI_ADDRCONFIG | AI_NUMERICSERV | AI_CANONNAME,
            0x8000};
        for (const char* host :
             {"127.0.0.1", "127.1", "::1", "::ffff:127.0.0.1", "fe80::1%lo", static_cast<const char*>(nullptr)}) {
            for (const char* service : {"80", "http", "no-such-service", static_cast<const char*>(nullptr)}) {
                const auto compare = [&](const addrinfo* hints) {
                    addrinfo* found = nullptr;
                    const std::string plain = describe(::getaddrinfo(host, service, hints, &found), found);
                    found = nullptr;
                    EXPECT_EQ(describe(hooked::getaddrinfo(host, service, hints, &found), found), plain)
                        << (host != nullptr ? host : "-") << " " << (service != nullptr ? service : "-") << " "
                        << (hints != nullptr ? hints->ai_flags : -1);
                };
                compare(nullptr);
                for (const int flags : kFlags) {
                    for (const int family : {AF_UNSPEC, AF_INET, AF_INET6}) {
                        addrinfo hints{};
                        hints.ai_flags = flags;
                        hints.ai_family = family;
                        hints.ai_socktype = SOCK_STREAM;
                        compare(&hints);
                    }
                }
            }
        }
    });
}

TEST_F(HookedProcess, ACancelledLookupLeavesNothingToFree) {
    in_runtime([] {
        for (const char* host : {"127.0.0.1", "localhost"}) {
            addrinfo* found = nullptr;
            auto asker = spawn([&] { EXPECT_EQ(hooked::getaddrinfo(host, "80", nullptr, &found), EAI_SYSTEM); });
            suspend();
            asker.cancel();
            EXPECT_THROW(await(asker), Cancellation);
            EXPECT_EQ(found, nullptr) << host;
        }
    });
}

// --- signals

int seen_in_handler = -1;

TEST_F(HookedProcess, ASignalHandlerDoesNotSuspend) {
    in_runtime([] {
        static bool has_run;
        has_run = false;
        auto other = spawn([] { has_run = true; });
        struct sigaction action {};
        struct sigaction before {};
        action.sa_handler = [](int) {
            hooked::usleep(1000);
            seen_in_handler = has_run ? 1 : 0;
        };
        ASSERT_EQ(hooked::sigaction(SIGUSR1, &action, &before), 0);
        ::raise(SIGUSR1);
        EXPECT_EQ(seen_in_handler, 0);
        hooked::usleep(1);
        EXPECT_TRUE(has_run);
        struct sigaction now {};
        ASSERT_EQ(hooked::sigaction(SIGUSR1, &before, &now), 0);
        EXPECT_EQ(now.sa_handler, action.sa_handler);  // as it was set, not as it is done
        EXPECT_EQ(now.sa_flags & SA_SIGINFO, 0);
        action.sa_flags = SA_SIGINFO;  // means nothing here
        action.sa_handler = SIG_DFL;
        ASSERT_EQ(hooked::sigaction(SIGUSR1, &action, nullptr), 0);
        ASSERT_EQ(::sigaction(SIGUSR1, &before, &now), 0);
        EXPECT_EQ(now.sa_handler, SIG_DFL);
        await(other);
    });
}

TEST_F(HookedProcess, DlsymGivesTheHook) {
    EXPECT_EQ(hooked::dlsym(RTLD_DEFAULT, "usleep"), reinterpret_cast<void*>(&hooked::usleep));
    EXPECT_EQ(hooked::dlsym(RTLD_DEFAULT, "getpid"), reinterpret_cast<void*>(&::getpid));
    EXPECT_EQ(hooked::dlsym(RTLD_DEFAULT, "no_such_function"), nullptr);
}

}  // namespace
}  // namespace trueasync::testing
