/*
 * Fails chosen input and output calls of the process it is preloaded into, on paths below one folder.
 *
 * The plan and the counts stand in a file that is mapped into memory (IO_FAULT_CONTROL), so that the process itself, or
 * its parent, can change the plan while it runs and read what happened: see control.ts, which has the same layout.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { READ, WRITE, SYNC, TRUNCATE, OPEN, RENAME, UNLINK, MKDIR, MAP, KINDS };

/* What a failing call does. */
enum how { FAILS, HALF };

struct control {
  /* Bits by kind: the calls that are counted towards `nth`; 0 when nothing is to fail. */
  _Atomic int64_t kinds;
  /* From 1; the first call that fails. */
  _Atomic int64_t nth;
  /* So many calls fail. */
  _Atomic int64_t failures;
  _Atomic int64_t error;
  /* HALF: the first failing read or write transfers half of what it was asked for and succeeds. */
  _Atomic int64_t how;
  /* Written here. */
  _Atomic int64_t counted;
  _Atomic int64_t failed;
  _Atomic int64_t by_kind[KINDS];
  /* What failed first: call and path, as text. */
  char first[240];
};

static struct control *control;
static char folder[PATH_MAX];
static size_t folder_length;

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void start(void) {
  const char *root = getenv("IO_FAULT_FOLDER"), *path = getenv("IO_FAULT_CONTROL");
  if (!root || !path || !realpath(root, folder)) return;
  folder_length = strlen(folder);
  int file = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
  if (file < 0) return;
  void *mapped = (void *)syscall(SYS_mmap, NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (mapped != MAP_FAILED) control = mapped;
}

static int is_inside(const char *path) {
  return strncmp(path, folder, folder_length) == 0 && (path[folder_length] == '/' || path[folder_length] == 0);
}

enum verdict { PASS, FAIL, SHORT };

/* Counts the call and says what becomes of it; sets errno for FAIL. */
static enum verdict judge(enum kind kind, const char *call, const char *path) {
  atomic_fetch_add(&control->by_kind[kind], 1);
  if (!(atomic_load(&control->kinds) >> kind & 1)) return PASS;
  int64_t nth = atomic_load(&control->nth), at = atomic_fetch_add(&control->counted, 1) + 1;
  if (at < nth || at >= nth + atomic_load(&control->failures)) return PASS;
  if (atomic_fetch_add(&control->failed, 1) == 0) snprintf(control->first, sizeof control->first, "%s %s", call, path);
  if (at == nth && atomic_load(&control->how) == HALF && (kind == READ || kind == WRITE)) return SHORT;
  errno = (int)atomic_load(&control->error);
  return FAIL;
}

static enum verdict of_path(enum kind kind, const char *call, const char *path) {
  if (!control || !path) return PASS;
  char absolute[PATH_MAX];
  if (path[0] != '/') {
    char here[PATH_MAX];
    if (syscall(SYS_getcwd, here, sizeof here) < 0) return PASS;
    snprintf(absolute, sizeof absolute, "%.2000s/%.2000s", here, path);
    path = absolute;
  }
  return is_inside(path) ? judge(kind, call, path) : PASS;
}

static enum verdict of_file(enum kind kind, const char *call, int file) {
  if (!control || file < 0) return PASS;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length <= 0) return PASS;
  path[length] = 0;
  return is_inside(path) ? judge(kind, call, path) : PASS;
}

static size_t half(size_t count) { return count > 1 ? count / 2 : count; }

#define TRANSFER(kind, name, file, count, ...) \
  REAL(name); \
  enum verdict verdict = of_file(kind, #name, file); \
  if (verdict == FAIL) return -1; \
  if (verdict == SHORT) count = half(count); \
  return real(__VA_ARGS__)

ssize_t read(int file, void *to, size_t count) { TRANSFER(READ, read, file, count, file, to, count); }
ssize_t pread(int file, void *to, size_t count, off_t at) { TRANSFER(READ, pread, file, count, file, to, count, at); }
ssize_t pread64(int file, void *to, size_t count, off64_t at) { TRANSFER(READ, pread64, file, count, file, to, count, at); }
ssize_t write(int file, const void *from, size_t count) { TRANSFER(WRITE, write, file, count, file, from, count); }
ssize_t pwrite(int file, const void *from, size_t count, off_t at) {
  TRANSFER(WRITE, pwrite, file, count, file, from, count, at);
}
ssize_t pwrite64(int file, const void *from, size_t count, off64_t at) {
  TRANSFER(WRITE, pwrite64, file, count, file, from, count, at);
}

/* Cut short to its first piece. */
#define TRANSFER_PIECES(kind, name, file, pieces, ...) \
  REAL(name); \
  enum verdict verdict = of_file(kind, #name, file); \
  if (verdict == FAIL) return -1; \
  if (verdict == SHORT) pieces = 1; \
  return real(__VA_ARGS__)

ssize_t readv(int file, const struct iovec *to, int pieces) { TRANSFER_PIECES(READ, readv, file, pieces, file, to, pieces); }
ssize_t preadv(int file, const struct iovec *to, int pieces, off_t at) {
  TRANSFER_PIECES(READ, preadv, file, pieces, file, to, pieces, at);
}
ssize_t preadv64(int file, const struct iovec *to, int pieces, off64_t at) {
  TRANSFER_PIECES(READ, preadv64, file, pieces, file, to, pieces, at);
}
ssize_t writev(int file, const struct iovec *from, int pieces) {
  TRANSFER_PIECES(WRITE, writev, file, pieces, file, from, pieces);
}
ssize_t pwritev(int file, const struct iovec *from, int pieces, off_t at) {
  TRANSFER_PIECES(WRITE, pwritev, file, pieces, file, from, pieces, at);
}
ssize_t pwritev64(int file, const struct iovec *from, int pieces, off64_t at) {
  TRANSFER_PIECES(WRITE, pwritev64, file, pieces, file, from, pieces, at);
}

#define ON_FILE(kind, name, file, ...) \
  REAL(name); \
  if (of_file(kind, #name, file) == FAIL) return -1; \
  return real(__VA_ARGS__)

int fsync(int file) { ON_FILE(SYNC, fsync, file, file); }
int fdatasync(int file) { ON_FILE(SYNC, fdatasync, file, file); }
int ftruncate(int file, off_t length) { ON_FILE(TRUNCATE, ftruncate, file, file, length); }
int ftruncate64(int file, off64_t length) { ON_FILE(TRUNCATE, ftruncate64, file, file, length); }
int fallocate(int file, int mode, off_t at, off_t length) { ON_FILE(TRUNCATE, fallocate, file, file, mode, at, length); }
int fallocate64(int file, int mode, off64_t at, off64_t length) {
  ON_FILE(TRUNCATE, fallocate64, file, file, mode, at, length);
}

/* These two tell of an error by what they return. */
int posix_fallocate(int file, off_t at, off_t length) {
  REAL(posix_fallocate);
  return of_file(TRUNCATE, "posix_fallocate", file) == FAIL ? errno : real(file, at, length);
}
int posix_fallocate64(int file, off64_t at, off64_t length) {
  REAL(posix_fallocate64);
  return of_file(TRUNCATE, "posix_fallocate64", file) == FAIL ? errno : real(file, at, length);
}

#define ON_PATH(kind, name, path, ...) \
  REAL(name); \
  if (of_path(kind, #name, path) == FAIL) return -1; \
  return real(__VA_ARGS__)

int rename(const char *from, const char *to) { ON_PATH(RENAME, rename, to, from, to); }
int unlink(const char *path) { ON_PATH(UNLINK, unlink, path, path); }
int unlinkat(int at, const char *path, int flags) { ON_PATH(UNLINK, unlinkat, path, at, path, flags); }
int rmdir(const char *path) { ON_PATH(UNLINK, rmdir, path, path); }
int remove(const char *path) { ON_PATH(UNLINK, remove, path, path); }
int mkdir(const char *path, mode_t mode) { ON_PATH(MKDIR, mkdir, path, path, mode); }

#define OPENS(name, path, flags, ...) \
  REAL(name); \
  if (of_path(OPEN, #name, path) == FAIL) return -1; \
  mode_t mode = 0; \
  if (flags & (O_CREAT | O_TMPFILE)) { \
    va_list rest; \
    va_start(rest, flags); \
    mode = va_arg(rest, mode_t); \
    va_end(rest); \
  } \
  return real(__VA_ARGS__, mode)

int open(const char *path, int flags, ...) { OPENS(open, path, flags, path, flags); }
int open64(const char *path, int flags, ...) { OPENS(open64, path, flags, path, flags); }
int openat(int at, const char *path, int flags, ...) { OPENS(openat, path, flags, at, path, flags); }
int openat64(int at, const char *path, int flags, ...) { OPENS(openat64, path, flags, at, path, flags); }

/* Memory that is no file's is none of our business, and is asked for before anything can be looked up. */
void *mmap(void *where, size_t length, int protection, int flags, int file, off_t at) {
  if (file >= 0 && of_file(MAP, "mmap", file) == FAIL) return MAP_FAILED;
  return (void *)syscall(SYS_mmap, where, length, protection, flags, file, at);
}
void *mmap64(void *where, size_t length, int protection, int flags, int file, off64_t at) {
  return mmap(where, length, protection, flags, file, at);
}
