#include "support/suite.hpp"

int main(int argc, char** argv) { return bench::run_suite(argc, argv); }
