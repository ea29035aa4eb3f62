// SPDX-License-Identifier: GPL-2.0
/*
 * What a program under `fast try` is given, looked at from inside:
 *
 *	given serve SOCKET	a server at a local socket and at a port of the loopback device,
 *				with a contended lock; it answers each connection with "served"
 *	given SOCKET FILE	its client; its status is 0 if all is there
 *
 * The client's input is FILE, and its environment has GIVEN="two words".
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <mqueue.h>
#include <pthread.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PORT 7000
#define TURNS 200
#define LATER 1700000000	/* --date is later, the machine's own time is earlier */

static pthread_mutex_t served_lock = PTHREAD_MUTEX_INITIALIZER;

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int local_socket(const char *path, int (*join)(int, const struct sockaddr *, socklen_t))
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || join(fd, (const struct sockaddr *)&address, sizeof(address)))
		fail(path);
	return fd;
}

static int port_socket(int (*join)(int, const struct sockaddr *, socklen_t))
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || join(fd, (const struct sockaddr *)&address, sizeof(address)))
		fail("the port");
	return fd;
}

static void *contend(void *unused)
{
	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&served_lock);
		for (volatile int j = 0; j < 1000; j++)
			;
		pthread_mutex_unlock(&served_lock);
	}
	return unused;
}

/* In the region of interest, since a client has connected. */
static void answer(int fd)
{
	int connection = accept(fd, NULL, NULL);
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, contend, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	if (connection < 0 || write(connection, "served", 6) != 6)
		fail("the connection");
	close(connection);
}

static int serve(const char *path)
{
	int local = local_socket(path, bind), port = port_socket(bind);

	if (listen(port, 1) || listen(local, 1))
		fail("listen");
	answer(local);
	answer(port);
	pause();
	return 0;
}

static void check(bool good, const char *what)
{
	if (!good)
		fail(what);
}

static void check_answer(int fd)
{
	char text[8] = "";

	check(read(fd, text, 6) == 6 && !strcmp(text, "served"), "the answer");
}

static void check_input(const char *path)
{
	char input[64] = "", file[64] = "";
	FILE *from = fopen("/dev/stdin", "r"), *beside = fopen(path, "r");

	check(from && beside && fgets(input, sizeof(input), from) &&
	      fgets(file, sizeof(file), beside) && !strcmp(input, file), "/dev/stdin");
	check(!access("/dev/fd/0", F_OK), "/dev/fd/0");
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve(argv[2]);
	check_answer(local_socket(argv[1], connect));
	check_answer(port_socket(connect));
	check_input(argv[2]);
	check(getenv("GIVEN") && !strcmp(getenv("GIVEN"), "two words"), "GIVEN");
	check(setlocale(LC_ALL, "") && !strcmp(nl_langinfo(CODESET), "UTF-8"), "the locale");
	check(getpwnam("root"), "getpwnam");
	check(inotify_init() >= 0, "inotify_init");
	check(mq_open("/queue", O_CREAT | O_RDWR, 0600, NULL) != (mqd_t)-1, "mq_open");
	check(time(NULL) > LATER, "the date");
	return 0;
}
