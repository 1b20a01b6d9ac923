/* Preloaded (LD_PRELOAD) into processes under test: of the calls that change something below a folder, the Nth is the
 * last thing that its process does, or it and all later ones fail.
 *
 * FAULTS_UNDER  the folder, an absolute path
 * FAULTS_IN     a part of the command line of the processes that are meant, one space between two arguments
 * FAULTS_AT     the number of the call, from 1 on; 0: none, they are counted alone
 * FAULTS_WITH   the errno that they fail with; 0: the process is killed (SIGKILL) instead of the call.
 *               Of ENOSPC only such calls are counted as need room on a disk.
 * FAULTS_LOG    a file elsewhere, into which each call that is counted goes, a line each
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *under;
static size_t length;
static long at, counted;
static int with, log_to = -1, meant;

__attribute__((constructor)) static void begin(void)
{
    char line[8192];
    const char *in = getenv("FAULTS_IN"), *log = getenv("FAULTS_LOG"), *number = getenv("FAULTS_AT");
    const char *error = getenv("FAULTS_WITH");
    under = getenv("FAULTS_UNDER");
    int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    long read_bytes = file < 0 ? -1 : syscall(SYS_read, file, line, sizeof line - 1);
    if (file >= 0)
        syscall(SYS_close, file);
    if (!under || !in || read_bytes <= 0)
        return;
    for (long place = 0; place < read_bytes; place++)
        if (!line[place])
            line[place] = ' ';
    line[read_bytes] = '\0';
    length = strlen(under);
    at = number ? atol(number) : 0;
    with = error ? atoi(error) : 0;
    meant = strstr(line, in) != NULL;
    if (meant && log)
        log_to = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int below(const char *path)
{
    return !strncmp(path, under, length) && (path[length] == '/' || !path[length]);
}

/* Where a name lies that is given relative to an open folder. */
static const char *placed(int folder, const char *name, char *place)
{
    char linked[64], base[PATH_MAX];
    if (name[0] == '/')
        return name;
    if (folder == AT_FDCWD) {
        if (!getcwd(base, sizeof base))
            return "";
    } else {
        snprintf(linked, sizeof linked, "/proc/self/fd/%d", folder);
        ssize_t size = readlink(linked, base, sizeof base - 1);
        if (size < 0)
            return "";
        base[size] = '\0';
    }
    snprintf(place, PATH_MAX, "%.2000s/%.2000s", base, name);
    return place;
}

/* Whether a call on this path goes on; else errno says with what it fails. */
static int goes_on(const char *call, const char *path, int needs_room)
{
    char line[PATH_MAX + 64];
    if (!meant || !below(path) || (with == ENOSPC && !needs_room))
        return 1;
    long number = __atomic_add_fetch(&counted, 1, __ATOMIC_SEQ_CST);
    if (log_to >= 0) {
        int size = snprintf(line, sizeof line, "%ld %s %s\n", number, call, path);
        syscall(SYS_write, log_to, line, (size_t)size);
    }
    if (!at || number < at)
        return 1;
    if (!with)
        syscall(SYS_kill, getpid(), SIGKILL);
    errno = with;
    return 0;
}

static int file_goes_on(const char *call, int file, int needs_room)
{
    char linked[64], path[PATH_MAX];
    if (!meant)
        return 1;
    snprintf(linked, sizeof linked, "/proc/self/fd/%d", file);
    ssize_t size = readlink(linked, path, sizeof path - 1);
    if (size < 0)
        return 1;
    path[size] = '\0';
    return goes_on(call, path, needs_room);
}

static int name_goes_on(const char *call, int folder, const char *name, int needs_room)
{
    char place[PATH_MAX];
    return !meant || goes_on(call, placed(folder, name, place), needs_room);
}

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

static int opened(const char *call, int folder, const char *name, int flags)
{
    if (!(flags & (O_CREAT | O_TRUNC)) && (flags & O_ACCMODE) == O_RDONLY)
        return 1;
    return name_goes_on(call, folder, name, (flags & O_CREAT) != 0);
}

#define OPEN(symbol)                                                                                                  \
    int symbol(const char *name, int flags, ...)                                                                      \
    {                                                                                                                 \
        va_list rest;                                                                                                 \
        va_start(rest, flags);                                                                                        \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                       \
        va_end(rest);                                                                                                 \
        return opened("open", AT_FDCWD, name, flags) ? REAL(int, #symbol, const char *, int, ...)(name, flags, mode)  \
                                                     : -1;                                                            \
    }
#define OPENAT(symbol)                                                                                                \
    int symbol(int folder, const char *name, int flags, ...)                                                          \
    {                                                                                                                 \
        va_list rest;                                                                                                 \
        va_start(rest, flags);                                                                                        \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                       \
        va_end(rest);                                                                                                 \
        return opened("open", folder, name, flags)                                                                    \
                   ? REAL(int, #symbol, int, const char *, int, ...)(folder, name, flags, mode)                       \
                   : -1;                                                                                              \
    }
/* NAMED: the result, the symbol, arguments with their types and without, the folder and the name that it changes. */
#define NAMED(symbol, typed, plain, folder, name, needs_room)                                                         \
    int symbol typed                                                                                                  \
    {                                                                                                                 \
        return name_goes_on(#symbol, folder, name, needs_room) ? ((int(*) typed)dlsym(RTLD_NEXT, #symbol)) plain : -1;\
    }
#define FILED(type, symbol, typed, plain, file, needs_room)                                                           \
    type symbol typed                                                                                                 \
    {                                                                                                                 \
        return file_goes_on(#symbol, file, needs_room) ? ((type(*) typed)dlsym(RTLD_NEXT, #symbol)) plain : -1;       \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
NAMED(mkdir, (const char *name, mode_t mode), (name, mode), AT_FDCWD, name, 1)
NAMED(mkdirat, (int folder, const char *name, mode_t mode), (folder, name, mode), folder, name, 1)
NAMED(rename, (const char *from, const char *to), (from, to), AT_FDCWD, to, 1)
NAMED(renameat, (int one, const char *from, int two, const char *to), (one, from, two, to), two, to, 1)
NAMED(unlink, (const char *name), (name), AT_FDCWD, name, 0)
NAMED(unlinkat, (int folder, const char *name, int flags), (folder, name, flags), folder, name, 0)
NAMED(rmdir, (const char *name), (name), AT_FDCWD, name, 0)
NAMED(link, (const char *from, const char *to), (from, to), AT_FDCWD, to, 1)
NAMED(symlink, (const char *from, const char *to), (from, to), AT_FDCWD, to, 1)
NAMED(chmod, (const char *name, mode_t mode), (name, mode), AT_FDCWD, name, 0)
NAMED(utimensat, (int folder, const char *name, const struct timespec times[2], int flags),
      (folder, name, times, flags), folder, name, 0)
FILED(ssize_t, write, (int file, const void *from, size_t size), (file, from, size), file, 1)
FILED(ssize_t, pwrite, (int file, const void *from, size_t size, off_t place), (file, from, size, place), file, 1)
FILED(ssize_t, pwrite64, (int file, const void *from, size_t size, off64_t place), (file, from, size, place), file, 1)
FILED(ssize_t, writev, (int file, const struct iovec *from, int count), (file, from, count), file, 1)
FILED(int, ftruncate, (int file, off_t size), (file, size), file, 1)
FILED(int, ftruncate64, (int file, off64_t size), (file, size), file, 1)
FILED(int, fchmod, (int file, mode_t mode), (file, mode), file, 0)
FILED(int, fsync, (int file), (file), file, 0)
FILED(int, fdatasync, (int file), (file), file, 0)
