/// A library that is loaded by its bare name.

#include <unistd.h>

extern "C" {

int beside_usleep(unsigned microseconds) { return ::usleep(microseconds); }
}
