dnl The build by phpize: `phpize && ./configure && make && make install`. The list of sources is what lies in ../src and here, as in CMake;
dnl tests/phpize compares the two.
PHP_ARG_ENABLE([true_async],
  [whether to enable TrueAsync],
  [AS_HELP_STRING([--enable-true_async], [Coroutines and asynchronous I/O])],
  [yes])

if test "$PHP_TRUE_ASYNC" != "no"; then
  PHP_REQUIRE_CXX()
  PKG_CHECK_MODULES([LIBUV], [libuv >= 1.44])
  PHP_EVAL_INCLINE($LIBUV_CFLAGS)
  PHP_EVAL_LIBLINE($LIBUV_LIBS, TRUE_ASYNC_SHARED_LIBADD)

  true_async_here=$(cd "$srcdir" && pwd)
  true_async_root=$(cd "$srcdir/.." && pwd)

  dnl The core is not below this directory, and libtool leaves objects beside their sources: each of its files gets a source of one line.
  rm -rf "$true_async_here/native"
  true_async_sources=
  for true_async_file in $(cd "$true_async_root/src" && find . -name '*.cpp' -o -name '*.S' | LC_ALL=C sort); do
    true_async_file=${true_async_file#./}
    case $true_async_file in
      *.S) true_async_wrapper=native/$true_async_file ;;
      *) true_async_wrapper=native/${true_async_file%.cpp}.cc ;;
    esac
    mkdir -p "$true_async_here/$(dirname "$true_async_wrapper")"
    echo "#include \"$true_async_root/src/$true_async_file\"" > "$true_async_here/$true_async_wrapper"
    true_async_sources="$true_async_sources $true_async_wrapper"
  done
  for true_async_file in $(cd "$true_async_here" && find . -name '*.cpp' | LC_ALL=C sort); do
    true_async_sources="$true_async_sources ${true_async_file#./}"
  done

  true_async_version=$(sed -n 's/^project(TrueAsync VERSION \([[0-9.]]*\).*/\1/p' "$true_async_root/CMakeLists.txt")
  mkdir -p "$true_async_here/native/include/trueasync"
  sed -e "s/@PROJECT_VERSION@/$true_async_version/" \
      -e "s/@PROJECT_VERSION_MAJOR@/$(echo "$true_async_version" | cut -d. -f1)/" \
      -e "s/@PROJECT_VERSION_MINOR@/$(echo "$true_async_version" | cut -d. -f2)/" \
      -e "s/@PROJECT_VERSION_PATCH@/$(echo "$true_async_version" | cut -d. -f3)/" \
      "$true_async_root/cmake/version.hpp.in" > "$true_async_here/native/include/trueasync/version.hpp"

  true_async_flags="-std=gnu++20 -DTRUEASYNC_BUILDING=1 -I$true_async_here/native/include -I$true_async_root/include -I$true_async_root/src"
  true_async_flags="$true_async_flags -fvisibility=hidden -fvisibility-inlines-hidden -ftls-model=initial-exec -DNDEBUG"
  dnl Optimised as a whole, as by CMake: spawning and awaiting go through many small functions of many sources.
  case $($CXX --version 2>/dev/null) in
    *"Free Software Foundation"*) true_async_flags="$true_async_flags -flto=auto" ;;
  esac
  PHP_NEW_EXTENSION([true_async], [$true_async_sources], [$ext_shared],, [$true_async_flags], [cxx])
  for true_async_file in $true_async_sources; do
    PHP_ADD_BUILD_DIR([$ext_builddir/$(dirname $true_async_file)])
  done

  PHP_ADD_LIBRARY([stdc++], 1, [TRUE_ASYNC_SHARED_LIBADD])
  dnl php has symbols of the same names as some of ours: nothing may be seen from outside or bound there.
  TRUE_ASYNC_SHARED_LIBADD="$TRUE_ASYNC_SHARED_LIBADD -pthread -Wl,-Bsymbolic -Wl,--version-script=$true_async_here/exports.map"
  PHP_SUBST([TRUE_ASYNC_SHARED_LIBADD])
  PHP_ADD_MAKEFILE_FRAGMENT
fi
